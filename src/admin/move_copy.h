/* Copying at the source of a move: reads the records of a name, and copies its spaces to the
 * destination (move_in.h). The space of an existing container is copied while clients write to it,
 * followed by rounds that each copy the changes since the previous one. Once a round is short, the
 * space is held, so that writes fail, and the last changes are copied. decision: 1130 */
#ifndef LAGRA_ADMIN_MOVE_COPY_H
#define LAGRA_ADMIN_MOVE_COPY_H

#include <stdatomic.h>

#include "service/placement_move.h"

/* Maximum number of spaces of a name: one of the container, and one of each soft-deleted container
 * of the name. */
#define MOVE_SPACES_MAX 32u

enum move_result {
    MOVE_OK,
    MOVE_AGAIN,   /* the name changed in the meantime */
    MOVE_MISSING, /* the name no longer exists */
    MOVE_FAILED,  /* see copier->problem */
};

struct space_copy {
    struct guid from, id;
    struct moved_space to;
};

struct copier {
    const struct endpoint *endpoint;
    struct move move;
    struct arena *arena; /* memory of one attempt */
    struct arena *kept;  /* memory of all attempts */
    const atomic_bool *ends;
    _Atomic uint64_t *records, *bytes; /* progress */
    struct space_copy copies[MOVE_SPACES_MAX];
    size_t copy_count;
    /* reads the space of the last copy; NULL once that copy is complete */
    struct archive *archive;
    struct guid named[MOVE_SPACES_MAX]; /* spaces in the records as last read */
    bool is_live[MOVE_SPACES_MAX];      /* whether the space is that of an existing container */
    size_t named_count;
    struct moved_task *tasks; /* tasks of the name; NULL before they are read */
    size_t task_count;
    uint64_t tasks_digest; /* digest of the name's records when the tasks were read */
    const char *problem;   /* static */
};

/* Completes the copies, reads the records of the name, copies its new spaces, and makes the
 * destination prepare the records. Sets *ret_digest to the digest of the prepared records. Returns
 * MOVE_AGAIN if a space was copied; the next call completes that copy. */
enum move_result copier_prepare(struct copier *copier, uint64_t *ret_digest);
/* Releases all held spaces and stops copying. */
void copier_release(struct copier *copier);

#endif
