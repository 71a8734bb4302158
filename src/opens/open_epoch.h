/* The epochs of the processes that hold opens, and how long each process ran. A persistent handle
 * outlives its process, and its timeout restarts with each start of the server. It expires
 * permanently once a later process has run for the whole timeout, so the starts are recorded in the
 * store:
 *
 *   space      account_space("starts", "")
 *   partition  ""
 *              INNER "s"   u8 1; varint count; each, ascending: varint start; varint ticks until
 *                          the next start, HANDLE_KEPT_TICKS_MAX at most; 0 for the newest
 *
 * Retains only starts whose process ran longer than any later one. After HANDLE_KEPT_TICKS_MAX
 * without a restart, two remain. Older programs ignore the record; a newer program that finds
 * none counts from its own start. decision: 990 */
#ifndef LAGRA_OPENS_OPEN_EPOCH_H
#define LAGRA_OPENS_OPEN_EPOCH_H

#include "store/store.h"

#define STARTS_MAX 64u

/* Returns the epoch of this process, unique among all processes that have opened this store.
 * Thread-safe. */
uint64_t open_epoch(void);
/* Starts a new epoch without earlier starts, for tests. */
void open_epoch_begin(void);
/* Starts the epoch of a new process: reads the starts of earlier ones, and adds this one
 * durably. Called before the services start; blocks on the store.
 * opens    this process opens handles; if false, it is added only to an existing list
 * returns  false if the store failed (logged); expired handles may then count again */
bool open_epoch_record(struct store *store, bool opens);
/* Returns the expiry of a persistent handle that an earlier process opened. ticks: its timeout.
 * Thread-safe. */
instant open_epoch_end_of(uint64_t epoch, uint64_t ticks);

enum start_record_kind { NO_START_RECORD, START_RECORD, START_RECORD_DAMAGED };
/* Recognizes the record of the starts, for `lagra check`. */
enum start_record_kind start_record_inspect(const struct partition *at, struct bytes key,
                                            struct bytes value);

#endif
