/* A state of the tree. Known to the path_* files of the model only. */
#ifndef LAGRA_SIM_PATH_STATE_H
#define LAGRA_SIM_PATH_STATE_H

#include "path_model.h"

struct path_state {
    struct path_state *older;
    uint64_t since; /* the commit that created it */
    bool exists[PATH_FILESYSTEMS], is_held[PATH_FILESYSTEMS];
    unsigned days;                /* for which deleted paths are retained; 0: soft delete is off */
    const struct path_kept *kept; /* the newest first */
    const struct path_node *nodes[PATH_PLACES];
    bool ghosts[PATH_PLACES]; /* path_effective(): of expired files that still have names */
};

/* A deleted path that is retained, with everything below it. Never changed. */
struct path_kept {
    const struct path_kept *older;
    uint64_t deleted, expires; /* ticks */
    unsigned place;
    const struct path_node *nodes[PATH_PLACES];
};

const struct path_state *path_state_at(uint64_t commit);
bool path_has_entries(const struct path_state *state, unsigned place);
/* Sets *ret_state to the state as requests see it at that time: files that have expired are not found. path_kept.c */
void path_effective(const struct path_state *state, const struct path_moment *moment,
                    unsigned doubts, struct path_state *ret_state);
bool path_has_expired(const struct path_node *node, uint64_t now);
/* Returns whether a deletion of the path with this node is retained. path_kept.c */
bool path_is_retained(const struct path_ask *ask, const struct path_node *node);
/* Removes the files at the place and above it that have expired. path_kept.c */
void path_drop_expired(struct path_state *state, unsigned place, uint64_t now);
/* Removes what is at the place and below it. path_kept.c */
void path_remove(struct path_state *state, unsigned place);
/* Forgets the deleted paths of a filesystem that is deleted. path_kept.c */
void path_forget_kept(struct path_state *state, unsigned root);
/* Retains what is at the place and below it. path_kept.c */
void path_retain(struct path_state *state, unsigned place, const struct path_view *view);
struct path_expected path_expect_undelete(const struct path_ask *ask,
                                          const struct path_state *state, uint64_t now);
void path_undelete(struct path_state *state, const struct path_ask *ask, uint64_t now);
/* Returns the destination of a rename. Without a mode, a path renamed to a directory moves into it. */
unsigned path_destination(const struct path_ask *ask, const struct path_state *state);
/* Executes the lease action of an append or flush. Returns NULL, or the error code. path_expect.c */
const char *path_act_on_lease(struct model_lease *lease, const struct path_ask *ask, bool late,
                              const struct path_moment *moment);
/* Returns whether a block list may name the block. path_blocks.c */
bool path_has_block(const struct path_node *node, enum path_block_source source, unsigned block);
/* Sets the content of a new file from the blocks of the previous one. path_blocks.c */
void path_put_block_list(struct path_node *node, const struct path_ask *ask,
                         const struct path_node *was);
/* Executes a change of a list. Returns false if it would give default entries to a file. path_access.c */
bool path_change_acl(struct path_acl *acl, const struct path_ask *ask, bool is_directory);
/* Sets the list of a new file or directory. path_access.c */
void path_inherit_acl(const struct path_acl *parent, unsigned owner, bool is_directory,
                      struct path_acl *ret_acl);
/* Returns whether the node has had the same list since the request started. path_access.c */
bool path_acl_is_stable(const struct path_node *node, const struct path_moment *moment);
bool path_acls_are_equal(const struct path_acl *left, const struct path_acl *right);
/* Like path_find_doubts(), for PATH_REFUSED and PATH_MORE_REFUSED. Returns the possible ones. path_access.c */
unsigned path_find_refusals(const struct path_ask *ask, const struct path_state *state,
                            const struct path_moment *moment, unsigned *ret_certain);

#endif
