/* Internal to handles/: functions shared by the attempts of SMB commands. */
#ifndef LAGRA_HANDLES_HANDLE_PRIVATE_H
#define LAGRA_HANDLES_HANDLE_PRIVATE_H

#include "opens/open_state.h"
#include "handles/handle.h"
#include "service/small_record.h"

/* Reads the share of a tree connect, or its snapshot. Returns OK, E_ShareNotFound: also if another
 * share has taken the name. */
enum error tree_connect_read_share(struct decision *d, const struct tree_connect *tree_connect,
                                   instant snapshot, struct share *ret_share);

/* Starts an attempt: sets the share and its tree in d->state, or those of the snapshot. returns
 * OK, or an error of tree_connect_read_share() */
enum error handle_begin(struct decision *d, const struct tree_connect *tree_connect,
                        instant snapshot);
/* Converts path components sent by a client. Returns OK, E_InvalidResourceName,
 * E_InvalidFileOrDirectoryPathName. */
enum error handle_path(struct decision *d, const struct bytes *names, size_t count,
                       struct tree_path *ret_path);

enum handle_use {
    HANDLE_READS,   /* also in a snapshot */
    HANDLE_CHANGES, /* changes the node */
    HANDLE_NAMES,   /* also changes its parent directory, unless the node is the root */
};
/* Starts the attempt of a command on a handle: sets state->place, ->part and ->file to its node,
 * and d->before and d->changes to those of its part. Fails unless the handle is open.
 * *ret_opens: the open state; NULL in a snapshot
 * returns OK, E_ShareNotFound, E_ResourceNotFound, E_ShareSnapshotOperationNotSupported */
enum error handle_find(struct decision *d, const struct tree_connect *tree_connect,
                       const struct held_handle *handle, enum handle_use use,
                       struct open_state **ret_opens);
/* Like handle_find(), after handle_begin(). */
enum error handle_find_begun(struct decision *d, const struct held_handle *handle,
                             enum handle_use use, struct open_state **ret_opens);
/* Like handle_find(), after state->place and ->part were set to the handle's node. */
enum error handle_load(struct decision *d, const struct held_handle *handle,
                       struct open_state **ret_opens);
/* Returns the open state of the part's node, with the file's attributes and lease state. */
enum error handle_gate(struct decision *d, struct decision_part *part, uint64_t node,
                       const struct file *file, struct open_state **ret_opens);

/* Returns the information of the node in d->state. times: of the requesting handle, or NULL */
struct handle_info handle_show(const struct decision *d, const struct handle_times *times,
                               const struct open_state *opens);
struct handle_info handle_info_of(const struct file *file, uint64_t node, uint64_t parent);

/* ---- closing: handle_close.c ---- */

struct handle_close;
/* Finds the handle to close. Sets *ret_is_there to false if it was closed by force or its share is
 * deleted; the attempt is then complete. *ret_opens is NULL in a snapshot. Returns OK, or an error
 * of handle_find(). */
enum error handle_close_begin(struct decision *d, struct handle_close *close, bool *ret_is_there,
                              struct open_state **ret_opens);
/* Closes the handle, and deletes the node if this was its last handle and a delete is pending. */
enum error handle_close_open(struct decision *d, struct handle_close *close,
                             struct open_state *opens);

/* ---- times: handle_times.c ---- */

/* Records a write by the handle at d->now: updates the file's times and those the handle shows. */
void handle_times_written(const struct decision *d, struct handle_times *times, struct file *file);
/* Makes the handle show the file's current times. */
void handle_times_shown(struct handle_times *times);
/* Updates the file's times when the handle closes. Returns true if *file has changed. */
bool handle_times_closed(const struct decision *d, struct handle_times *times, struct file *file);
/* Returns the last write time that the handle shows. */
instant handle_times_of(const struct decision *d, const struct handle_times *times,
                        const struct file *file);

/* ---- rights: handle_access.c ---- */

/* Returns the granted and the maximal access to state->file at state->place. needed: further
 * rights that the client must have
 * returns OK, E_AuthorizationPermissionMismatch */
enum error handle_grant(struct decision *d, const struct tree_connect *tree_connect,
                        uint32_t desired, uint32_t needed, uint32_t *ret_granted,
                        uint32_t *ret_maximum);
/* Like handle_grant(), for a node that the client creates: all desired access is granted.
 * descriptor: the node's, canonical */
enum error handle_grant_new(struct decision *d, const struct tree_connect *tree_connect,
                            struct bytes descriptor, uint32_t desired, uint32_t *ret_granted,
                            uint32_t *ret_maximum);
/* Check whether the client may create a node of this kind at state->place, and whether it may
 * delete state->file.
 * Returns OK, E_AuthorizationPermissionMismatch. */
enum error handle_may_add(struct decision *d, const struct tree_connect *tree_connect,
                          enum tree_kind kind);
enum error handle_may_delete(struct decision *d, const struct tree_connect *tree_connect);

/* ---- security descriptors: handle_descriptor.c ---- */

/* Returns the canonical descriptor of a node created at state->place with descriptor `raw`.
 * Inherits missing parts, or everything if raw.ptr is NULL. Returns OK, E_FileInvalidPermission,
 * or an error of handle_set_descriptor_attempt(). */
enum error descriptor_of_new(struct decision *d, const struct tree_connect *tree_connect,
                             struct bytes raw, enum tree_kind kind, struct bytes *ret_canonical);
/* Reads a descriptor of the share by its number. Returns OK, or an error of
 * decision_fail_store(). */
enum error handle_read_descriptor(struct decision *d, uint64_t permission,
                                  struct security_descriptor *ret_descriptor);
/* Returns the given parts of the descriptor of state->file, self-relative. Returns OK, or an error
 * of decision_fail_store(). */
enum error handle_descriptor(struct decision *d, uint32_t parts, struct bytes *ret_descriptor);

#endif
