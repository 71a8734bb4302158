/* The epochs of the processes that hold opens, and how long each process has lasted. A persistent handle outlives its
 * process, and its timeout restarts with each start of the server. It has expired for good once a later process has
 * lasted as long as its timeout, so the starts are recorded in the store:
 *
 *   space      account_space("starts", "")
 *   partition  ""
 *              INNER "s"   u8 1; varint count; each, ascending: varint start; varint ticks until the next start,
 *                          HANDLE_KEPT_TICKS_MAX at most; 0 for the newest
 *
 * Only starts that were followed by a longer time than any later one are kept. After HANDLE_KEPT_TICKS_MAX without a
 * restart these are two. An older program ignores the record, and a newer one that finds none counts from its own start.
 * decision: 990 */
#ifndef LAGRA_FILE_OPEN_EPOCH_H
#define LAGRA_FILE_OPEN_EPOCH_H

#include "store/store.h"

#define STARTS_MAX 64u

/* Unique among all processes that have opened this store. Thread-safe. */
uint64_t open_epoch(void);
/* Begins a new epoch, without earlier starts: for tests without a list. */
void open_epoch_begin(void);
/* Begins the epoch of a new process: reads the starts of earlier ones, and adds this one durably. Called before the
 * services start; blocks on the store.
 * opens    this process opens handles; if not, it is added only to a list that exists
 * returns  false: the store could not do it (logged). Handles that have ended may then count again. */
bool open_epoch_record(struct store *store, bool opens);
/* Returns the end of a persistent handle of an earlier process which is kept for that many ticks. Thread-safe. */
instant open_epoch_end_of(uint64_t epoch, uint64_t ticks);

enum start_record_kind { NO_START_RECORD, START_RECORD, START_RECORD_DAMAGED };
/* Recognizes the record of the starts, for checks of the store. */
enum start_record_kind start_record_inspect(const struct partition *at, struct bytes key,
                                            struct bytes value);

#endif
