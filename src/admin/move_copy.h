/* Source of a move: reads the records of a name, and copies its spaces to the destination
 * (move_in.h). The space of an existing container is copied while clients write to it, followed by
 * rounds that copy the changes since the round before. Once a round is short, the space is held and
 * the last changes are copied. decision: 1130 */
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
    struct guid from, id;
    struct moved_space to;
};

struct copier {
    const struct endpoint *endpoint;
    struct move move;
    struct arena *arena; /* for one attempt */
    struct arena *kept;  /* for all of them */
    const atomic_bool *ends;
    _Atomic uint64_t *records, *bytes; /* progress */
    struct space_copy copies[MOVE_SPACES_MAX];
    size_t copy_count;
    struct archive *archive; /* reads the space of the last copy; NULL once that is complete */
    struct guid named[MOVE_SPACES_MAX]; /* spaces of the records that were read last */
    bool is_live[MOVE_SPACES_MAX];      /* that of an existing container */
    size_t named_count;
    struct moved_task *tasks; /* of the name; NULL before they are read */
    size_t task_count;
    uint64_t tasks_digest; /* of the records of the name when the tasks were read */
    const char *problem;   /* static */
};

/* Completes the copies, reads the records of the name, copies its new spaces, and has the
 * destination prepare the records. *ret_digest is the digest of the prepared records. Returns
 * MOVE_AGAIN if a space was copied: the next call completes it. */
enum move_result copier_prepare(struct copier *copier, uint64_t *ret_digest);
/* Releases all spaces, and ends the copying. */
void copier_release(struct copier *copier);

#endif
