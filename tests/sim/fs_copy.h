/* Copies of files, as the model has them: those that were complete when they were answered, and those that were
 * pending, which jobs of the service carry on by steps. What a commit of such a job does is seen at its decision.
 * rest: Copy-File, Abort-Copy-File; decision: 304 */
#ifndef LAGRA_SIM_FS_COPY_H
#define LAGRA_SIM_FS_COPY_H

#include "fs_model.h"

/* How one began. It stays as it is, whatever a crash takes back: nobody has its id again. */
struct fs_copy {
    struct fs_copy *older;
    struct copy_id id;
    bool was_pending;
    bool is_dense;     /* it has written the zeros of its source, too */
    struct fs_ask ask; /* that began it */
    uint64_t version;  /* of the source; of another server: 0 */
    unsigned length;   /* slots */
    unsigned slots[FS_SLOTS];
    /* In the states since the server began to read it: was the source this version, and was it not? */
    bool was_there, was_away;
};

void fs_copies_begin(void);
void fs_copies_begin_life(void);
/* What a Copy File copies from another server. Valid until the next call. */
const struct fs_node *fs_remote_source(const struct fs_ask *ask);
/* A commit begins one, or makes all of it. */
const struct fs_copy *fs_copy_new(const struct fs_ask *ask, const struct fs_node *source,
                                  unsigned slot);
uint64_t fs_copy_bytes(const struct fs_copy *copy);
/* Until it has ended nobody changes the bytes or the length of the file. decision: 304 */
bool fs_is_copied_to(const struct fs_node *node);
/* One that is pending in the newest state, by a drawn number. NULL: there is none */
const struct fs_node *fs_pending(unsigned random);
/* Beside each new state. */
void fs_copies_watch(void);
/* What a file says of it. NULL, or what is wrong with that. */
const char *fs_compare_copied(const struct fs_node *node, const struct reply *answer);
/* The answer of the Copy File that began it. */
const char *fs_judge_copy(const struct fs_copy *copy, const struct reply *answer);

/* The calling thread, which works on no request, has committed. */
void fs_copies_committed(void);
/* Until none is pending. False: the store has failed meanwhile. */
bool fs_copies_wait(const struct server *server);

#endif
