/* Reads the body of a forwarded GET from the files of the owner's cell, on the file system that both
 * front ends share, instead of having the owner send it (piece_list.h): a direct read. The owner
 * keeps the pieces for as long as the exchange lasts.
 *
 * Threads of this module read the files, never a worker. They verify the sum of each sector that
 * they read, and pass on only verified bytes. Should the owner be lost meanwhile, and a new owner
 * free the pieces, the sums no longer match and the read fails; bytes of an extent are written once,
 * so they never become those of another piece.
 *
 * Bounds: DIRECT_READS_MAX reads at a time, each with two windows of DIRECT_WINDOW_BYTES, and
 * DIRECT_FILES_MAX open files. Beyond them, and while the file system does not respond, requests
 * are forwarded as usual. decision: 1385 */
#ifndef LAGRA_CLUSTER_DIRECT_H
#define LAGRA_CLUSTER_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/waiter.h"

#define DIRECT_READS_MAX    64u
#define DIRECT_WINDOW_BYTES ((size_t)512 << 10)
/* After this many bytes a step ends, even if they contained little of the body, so that other reads
 * take their turn. */
#define DIRECT_STEP_BYTES   ((size_t)4 << 20)
#define DIRECT_FILES_MAX    64u
#define DIRECT_THREADS      2u
/* Time for which an unused file stays open. */
#define DIRECT_IDLE_MS      5000u
/* If the threads have not finished a step for this long, no new read is started. */
#define DIRECT_HANG_MS      1000u

struct direct;
/* Starts the threads. Returns NULL if none can be started. cluster: the path of the cluster's
 * directory, which outlives it. Main thread. */
struct direct *direct_start(const char *cluster);
/* Ends the threads. There are no reads any more. Does nothing for NULL. Main thread. */
void direct_stop(struct direct *direct);
/* Returns true if another read may be started now. Thread-safe. */
bool direct_has_room(struct direct *direct);

struct direct_read;
/* Starts a read of the pieces of a list, which is copied. Returns NULL if the list is not valid for
 * a body of this length, or there is no room. Thread-safe. */
struct direct_read *direct_read_start(struct direct *direct, uint32_t cell, struct bytes list,
                                      uint64_t length);
enum direct_state { DIRECT_READY, DIRECT_WAITS, DIRECT_FAILED };
/* Returns DIRECT_READY and the next verified bytes, which stay valid until they are used;
 * DIRECT_WAITS; DIRECT_FAILED. The functions of a read are called by one thread at a time. */
enum direct_state direct_read_next(struct direct_read *read, struct bytes *ret_bytes);
/* Wakes the waiter once the state is not DIRECT_WAITS, perhaps before this returns. */
void direct_read_await(struct direct_read *read, struct waiter *waiter);
/* Marks the first `size` of the next bytes as used. */
void direct_read_use(struct direct_read *read, size_t size);
/* Ends the read. No waiter may be waiting. */
void direct_read_end(struct direct_read *read);

#endif
