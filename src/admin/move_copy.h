/* Source of a move: reads the records of a name, and copies its spaces to the destination
 * (move_in.h). */
#ifndef LAGRA_ADMIN_MOVE_COPY_H
#define LAGRA_ADMIN_MOVE_COPY_H

#include <stdatomic.h>

#include "service/placement_move.h"

/* A container has one space, and so has each deleted one of its name that is retained. */
#define MOVE_SPACES_MAX 32u

enum move_result {
    MOVE_OK,
    MOVE_AGAIN,   /* the name has changed meanwhile */
    MOVE_MISSING, /* it does not exist any more */
    MOVE_FAILED,  /* copier->problem */
};

struct space_copy {
    struct guid from;
    struct moved_space to;
};

struct copier {
    const struct endpoint *endpoint;
    struct move move;
    struct arena *arena; /* for one attempt */
    const atomic_bool *ends;
    _Atomic uint64_t *records, *bytes; /* progress */
    struct space_copy copies[MOVE_SPACES_MAX];
    size_t copy_count;
    struct guid named[MOVE_SPACES_MAX]; /* spaces of the records that were read last */
    size_t named_count;
    const char *problem; /* static */
};

/* Reads the records of the name, holds and copies its new spaces, and has the destination prepare
 * the records. *ret_digest is the digest of the prepared records. Returns MOVE_AGAIN if a space was
 * copied, so that the name must be read again. */
enum move_result copier_prepare(struct copier *copier, uint64_t *ret_digest);
/* Releases all spaces. */
void copier_release(struct copier *copier);

#endif
