/* Epochs identify server processes, for the handles they have opened. A persistent handle outlives
 * its process. Each server start restarts its timeout, and it expires for good once a later process
 * has run for the entire timeout. The store therefore records the starts and run times of
 * processes:
 *
 *   space      account_space("starts", "")
 *   partition  ""
 *              INNER "s"   u8 1; varint count; each, ascending: varint start; varint ticks until
 *                          the next start, HANDLE_TIMEOUT_TICKS_MAX at most; 0 for the newest
 *
 * A start is retained only if its process ran longer than all later ones. After a run of
 * HANDLE_TIMEOUT_TICKS_MAX, two starts remain. Programs that do not know the record ignore it;
 * without it, timeouts count from the start of this process. decision: 990 */
#ifndef LAGRA_OPENS_OPEN_EPOCH_H
#define LAGRA_OPENS_OPEN_EPOCH_H

#include "store/store.h"

#define STARTS_MAX 64u

/* Returns the epoch of this process, unique among all processes that have opened this store.
 * Thread-safe. */
uint64_t open_epoch(void);
/* Starts a new epoch without any earlier starts, for tests. */
void open_epoch_begin(void);
/* Starts this process's epoch: reads earlier starts and durably adds this one. Called before the
 * services start; blocks on the store.
 *
 * opens    true if this process can open handles. Otherwise the start is added only to an existing
 *          record
 * returns  false if the store failed (logged); expired handles may then become valid again */
bool open_epoch_record(struct store *store, bool opens);
/* Returns when a persistent handle opened by an earlier process expires. ticks: its timeout.
 * Thread-safe. */
instant open_epoch_end_of(uint64_t epoch, uint64_t ticks);

enum start_record_kind { NO_START_RECORD, START_RECORD, START_RECORD_DAMAGED };
/* Returns whether this is the record of starts and whether it is valid, for `lagra check`. */
enum start_record_kind start_record_inspect(const struct partition *at, struct bytes key,
                                            struct bytes value);

#endif
