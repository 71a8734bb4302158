/* The process: what it needs before anything is started, the memory that it gives back, and how it
 * ends when a write or sync of its store has failed. */
#ifndef LAGRA_SERVER_PROCESS_H
#define LAGRA_SERVER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* Is there enough of what a start takes? Libraries that find out for themselves end the process by an
 * assertion or an exception. Starts so many threads at the same time, maps so much memory beside them,
 * and gives all of it back. Returns false, after saying on stderr what there is too little of. Main
 * thread. */
bool start_check(unsigned threads, size_t memory_bytes);

/* Starts jemalloc's own thread, which returns memory that nobody uses to the system, so that what a
 * crowd of clients took is not kept after they left. Not by jemalloc's own option: where no thread
 * can be started, that ends in a crash. Sanitizers bring an allocator of their own. Once, by the main
 * thread.
 * returns false when there is no memory or thread for it; then memory is returned later, if at all.
 * jemalloc(3), "background_thread" */
bool allocator_start(void);

/* ---- a store that failed ---- */

/* What a write or sync that failed has lost is not known, so nothing may be written any longer, and the
 * next start reads what is on the disk: the sooner it comes the better. So the process ends at once, as
 * PostgreSQL does, after it has said why in the log. With --keepReading it stays up for reads, and ends so
 * at SIGTERM. decision: 255 */

/* Beside EXIT_SUCCESS, EXIT_FAILURE (a start that is refused) and 2 (options that are wrong). README.md */
#define EXIT_STORE_FAILED 3
#define EXIT_STORE_AWAY   4

/* Before the store is opened. Start-up thread. */
void ending_keep_reading(bool keep);
/* Of struct store_options: ends the process, unless it is to go on reading. Any thread. */
void ending_store_failed(void);
/* Ends the process without closing the store, which would call on RocksDB to write. Main thread. */
_Noreturn void ending_of_failed_store(void);
/* Terminates the process at once, with EXIT_STORE_FAILED: the cell that it owned belongs to another
 * front end, or its lease can no longer be renewed. Thread-safe. */
_Noreturn void ending_of_lost_cell(unsigned cell, const char *why);
/* Ends the process after so many seconds, if it still runs then: what waits for a file system that does not answer cannot be
 * waited for. Nothing that was acknowledged is lost; what was begun may have been done. Main thread, once. decision: 520 */
void ending_within(unsigned seconds);

/* The descriptors that this process may have. Main thread. */

/* How many it may have, after asking for as many as it may ask for. */
unsigned descriptors_allow(void);

#define DESCRIPTORS_ASKED_MAX 64u
/* Can so many more be had now, of this process and of the machine? */
bool descriptors_are_free(size_t count);

/* Notifications to systemd of a service of Type=notify: READY=1, RELOADING=1, STOPPING=1. man: sd_notify(3) */

/* Sends the state to the socket that NOTIFY_SOCKET names. Without one, or where nobody listens, nothing
 * happens: a server runs without a supervisor too. Main thread. */
void supervisor_notify(const char *state);

#endif
