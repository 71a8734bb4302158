/* The process: resources that a start needs, memory that is returned, descriptors, notifications of
 * systemd, and how it ends after a write or sync of its store failed. */
#ifndef LAGRA_SERVER_PROCESS_H
#define LAGRA_SERVER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* Checks that there are enough resources to start. Libraries that run out themselves end the
 * process by an assertion or an exception. Starts this many threads at the same time, maps this
 * much memory as well, and releases all of it. Returns false after printing the missing resource on
 * stderr. Main thread. */
bool start_check(unsigned threads, size_t memory_bytes);

/* Starts jemalloc's background thread, which returns unused memory to the system, so that memory
 * used by many clients is not kept after they left. jemalloc's own option would crash if the thread
 * cannot be started. Sanitizers use their own allocator. Called once, by the main thread.
 * Returns  false if there is no memory or thread for it; memory is then returned later, if at all
 * man: jemalloc(3), "background_thread". */
bool allocator_start(void);

/* ---- a store that failed ---- */

/* The data lost by a failed write or sync is unknown, so nothing may be written any more, and the
 * sooner the next start reads what is on disk the better. The process therefore logs the reason and
 * ends at once, like PostgreSQL. With --keepReading it stays up for reads and ends the same way on
 * SIGTERM. decision: 255 */

/* Exit statuses besides EXIT_SUCCESS, EXIT_FAILURE (start refused) and 2 (wrong options).
 * README.md */
#define EXIT_STORE_FAILED 3
#define EXIT_STORE_AWAY   4

/* Sets whether the process keeps reading after a failure. Before the store is opened. Start-up
 * thread. */
void ending_keep_reading(bool keep);
/* Callback in struct store_options: ends the process, unless it keeps reading. Thread-safe. */
void ending_store_failed(void);
/* Ends the process without closing the store, since RocksDB would write on closing. Main thread. */
_Noreturn void ending_of_failed_store(void);
/* Terminates the process at once, with EXIT_STORE_FAILED: the cell that it owned belongs to another
 * front end, or its lease can no longer be renewed. Thread-safe. */
_Noreturn void ending_of_lost_cell(unsigned cell, const char *why);
/* Ends the process after this many seconds if it is still running, because a wait for a hanging
 * file system cannot be interrupted. Nothing acknowledged is lost; pending requests may or may not
 * have been executed. Main thread, once. decision: 520 */
void ending_within(unsigned seconds);

/* Raises the limit of descriptors as far as allowed, and returns it. Main thread. */
unsigned descriptors_allow(void);

#define DESCRIPTORS_ASKED_MAX 64u
/* Returns true if this many more descriptors are available, to the process and on the machine. Main
 * thread. */
bool descriptors_are_free(size_t count);

/* Notifies systemd (Type=notify) of READY=1, RELOADING=1 or STOPPING=1 over the socket in
 * NOTIFY_SOCKET. Does nothing if none exists. Main thread. man: sd_notify(3) */
void supervisor_notify(const char *state);

#endif
