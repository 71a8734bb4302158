/* The pieces that this front end has staged and nobody has committed, by their numbers: who may delete them. One whose
 * commit has an unknown outcome is lost: it is looked for later (leftovers.h). Any thread. */
#ifndef LAGRA_STORE_RADOS_STAGED_H
#define LAGRA_STORE_RADOS_STAGED_H

#include "store/rados/intents.h"
#include "store/rados/piece_label.h"
#include "store/store_private.h"

struct staged;
/* pieces: the pool they lie in. intents: outlive it. */
struct staged *staged_new(struct port *pieces, uint32_t incarnation, struct intents *intents);
void staged_free(struct staged *staged);

/* Of an object, by its incarnation and number. */
#define PIECE_OBJECT_SIZE 32
void piece_object(uint32_t incarnation, uint64_t number, char ret_object[PIECE_OBJECT_SIZE]);
/* False: it is no name of a piece. */
bool piece_of_object(const char *object, uint32_t *ret_incarnation, uint64_t *ret_number);

/* It is being written, with this label. */
void staged_add(struct staged *staged, uint64_t number, const struct piece_label *label);
/* Its stage is closed: deletes it, unless it was committed, or once its commit has failed. */
void staged_close(struct staged *staged, uint64_t number);
/* Surely in no commit that may have been applied, but the caller's own. */
bool staged_is_fresh(struct staged *staged, uint64_t number);
/* A commit that refers to some of them begins, and ends. */
void staged_committing(struct staged *staged, const struct piece_change *pieces, size_t count);
void staged_committed(struct staged *staged, const struct piece_change *pieces, size_t count,
                      enum store_result result);

/* Makes the partition the owner of those that it is to refer to and that are another's. NULL: all are its own already. */
struct arrival *staged_adopt(struct staged *staged, const struct partition *partition,
                             const struct piece_change *pieces, size_t count);
/* Whether that was done. */
bool staged_are_of(struct staged *staged, const struct partition *partition,
                   const struct piece_change *pieces, size_t count);

/* Deletes a piece; nobody waits for it. */
void staged_delete(struct staged *staged, uint32_t incarnation, uint64_t number);
/* Of pieces that were committed by this front end: bytes that are referred to, and those that are released and not
 * deleted yet; as far as it has done both itself. */
struct staged_usage {
    int64_t live, released;
};
void staged_used(struct staged *staged, int64_t live, int64_t released);
struct staged_usage staged_usage(struct staged *staged);
/* Bytes of those that were written and not committed. */
uint64_t staged_bytes(struct staged *staged);
/* Those of which it has not been known for so long whether they were committed; at most `max` of them. */
size_t staged_lost(struct staged *staged, uint64_t for_ms, uint64_t *ret_numbers, size_t max);
/* It has been looked for. */
void staged_found(struct staged *staged, uint64_t number);
/* Nothing is left of which it is not known whether it was committed, or which could not be deleted. */
bool staged_is_clean(struct staged *staged);
/* Until nothing is being deleted. */
void staged_wait(struct staged *staged);

#endif
