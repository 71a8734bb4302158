/* The pieces that this front end has staged and nobody has committed, by their numbers: who may delete them. A
 * piece whose commit has an unknown outcome is nobody's: it stays. Any thread. */
#ifndef LAGRA_STORE_RADOS_STAGED_H
#define LAGRA_STORE_RADOS_STAGED_H

#include "store/rados/port.h"
#include "store/store_private.h"

struct staged;
/* pieces: the pool they lie in. */
struct staged *staged_new(struct port *pieces, uint32_t incarnation);
void staged_free(struct staged *staged);

uint64_t staged_next(struct staged *staged);
/* Of an object, by its incarnation and number. */
#define PIECE_OBJECT_SIZE 32
void piece_object(uint32_t incarnation, uint64_t number, char ret_object[PIECE_OBJECT_SIZE]);

/* It has been written. */
void staged_add(struct staged *staged, uint64_t number, uint32_t length);
/* Its stage is closed: deletes it, unless it was committed, or once its commit has failed. */
void staged_close(struct staged *staged, uint64_t number);
bool staged_is_fresh(struct staged *staged, uint64_t number);
/* A commit that refers to some of them begins, and ends. */
void staged_committing(struct staged *staged, const struct piece_change *pieces, size_t count);
void staged_committed(struct staged *staged, const struct piece_change *pieces, size_t count,
                      enum store_result result);

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
/* Whether there is one of which nobody knows if it was committed. */
bool staged_has_lost(struct staged *staged);
/* Until nothing is being deleted. */
void staged_wait(struct staged *staged);

#endif
