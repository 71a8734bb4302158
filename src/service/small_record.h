/* Small INNER records of a few numbers that services store in a partition, and the log message for
 * any unrecognized record; the record of a recent deletion. Thread-safe.
 *
 *   value: u8 1; the numbers, varints */
#ifndef LAGRA_SERVICE_SMALL_RECORD_H
#define LAGRA_SERVICE_SMALL_RECORD_H

#include "service/deferred_tasks.h"
#include "store/store.h"

/* Reads a record.
 * what       for the log: "the record of .."
 * returns    STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT (logged), STORE_WAIT, STORE_IO;
 *            the numbers are 0 unless STORE_OK */
enum store_result small_record_read(struct read_view *before, struct arena *arena, struct bytes key,
                                    const char *what, uint64_t *ret_numbers, size_t count);
void small_record_write(struct changes *changes, struct arena *arena, struct bytes key,
                        const uint64_t *numbers, size_t count);

/* Logs that a record has an unrecognized format. Returns STORE_CORRUPT. */
enum store_result record_is_unknown(const char *what, struct bytes value);

/* Record of a recently deleted container or share. While the service is still processing a
 * deletion, a second Delete Container or Delete Share also succeeds. For all other operations the
 * container does not exist (decision: 62).
 *
 * It is INNER "d" of its partition: u8 1 (version); instant of the deletion, in ticks. A deferred
 * task deletes the record, and does not affect a container that was created, or created and
 * deleted, under the name in the meantime. A service with such records has recent_deletion_forget()
 * among its task handlers. */

/* Stored; must never be reused. */
enum { TASK_FORGET_DELETION = 0x101 };

/* Records the deletion at `now`, and adds the task that deletes the record. */
void recent_deletion_write(struct changes *changes, struct arena *arena, instant now);
/* Determines whether a missing container was deleted shortly before `now`.
 * returns STORE_OK: it was; STORE_NOT_FOUND; STORE_CORRUPT, STORE_WAIT, STORE_IO */
enum store_result recent_deletion_find(struct read_view *before, struct arena *arena, instant now);
/* Handler of TASK_FORGET_DELETION. */
task_fn recent_deletion_forget;

#endif
