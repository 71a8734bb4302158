/* What commits of REST and of SMB do alike to the state that they make. Inside the model. */
#ifndef LAGRA_SIM_FS_CHANGE_H
#define LAGRA_SIM_FS_CHANGE_H

#include "fs_model.h"

/* Where a node that is made anew goes. */
unsigned fs_free_place(const struct fs_state *state);
/* The node is what the path names from now on. */
void fs_set_path(const struct fs_state *state, const struct fs_path *path, struct fs_node *node);
/* The same of one that is there: what has the name goes. */
void fs_move(struct fs_state *state, const struct fs_path *path, struct fs_node *node);
/* permission: of fs_permissions; 0: none that is known */
void fs_add_permission(struct fs_state *state, unsigned permission);
/* length: slots */
void fs_cut(struct fs_node *node, unsigned length, uint64_t commit);
/* Its pending copy ends without the bytes. rest: Abort-Copy-File */
void fs_end_copy(struct fs_node *node, enum fs_copied how, uint64_t commit);
/* An ETag that its next version must be above. */
uint64_t fs_etag_to_pass(const struct fs_node *node);
/* It has another version from now on. */
void fs_write_node(const struct fs_state *state, struct fs_node *node);
/* What is written ends a lease that is broken. semantics 3.5 */
void fs_forget_lease(struct fs_node *node);

#endif
