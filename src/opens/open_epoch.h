/* Epochs identify the server processes that opened handles. A persistent handle outlives its
 * process. Its timeout starts again with each start of the server, and the handle has expired for
 * good once a later process has run for the whole timeout. Therefore the starts and run times of
 * processes are recorded in the store:
 *
 *   space      account_space("starts", "")
 *   partition  ""
 *              INNER "s"   u8 1; varint count; each, ascending: varint start; varint ticks until
 *                          the next start, HANDLE_TIMEOUT_TICKS_MAX at most; 0 for the newest
 *
 * Only starts whose process ran longer than all later ones are retained. After
 * HANDLE_TIMEOUT_TICKS_MAX without a restart, two remain. Programs that do not know the record
 * ignore it; if there is no record, timeouts count from the start of this process. decision: 990 */
#ifndef LAGRA_OPENS_OPEN_EPOCH_H
#define LAGRA_OPENS_OPEN_EPOCH_H

#include "store/store.h"

#define STARTS_MAX 64u

/* Returns the epoch of this process, unique among all processes that have opened this store.
 * Thread-safe. */
uint64_t open_epoch(void);
/* Starts a new epoch and forgets earlier starts, for tests. */
void open_epoch_begin(void);
/* Starts the epoch of a new process: reads the starts of earlier processes and durably adds this
 * one. Called before the services start; blocks on the store.
 *
 * opens    true if this process can open handles; if false, it is added only to an existing record
 * returns  false if the store failed (logged); expired handles may then become valid again */
bool open_epoch_record(struct store *store, bool opens);
/* Returns the expiry of a persistent handle that an earlier process opened. ticks: its timeout.
 * Thread-safe. */
instant open_epoch_end_of(uint64_t epoch, uint64_t ticks);

enum start_record_kind { NO_START_RECORD, START_RECORD, START_RECORD_DAMAGED };
/* Checks whether this is the record of starts, and whether it is valid, for `lagra check`. */
enum start_record_kind start_record_inspect(const struct partition *at, struct bytes key,
                                            struct bytes value);

#endif
