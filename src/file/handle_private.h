/* Inside file/ only: what the attempts of SMB's commands share. */
#ifndef LAGRA_FILE_HANDLE_PRIVATE_H
#define LAGRA_FILE_HANDLE_PRIVATE_H

#include "file/gate.h"
#include "file/handle.h"
#include "service/small_record.h"

/* The share of a mount, or its snapshot. returns OK, E_ShareNotFound: also of another share of its name */
enum error mount_read_share(struct decision *d, const struct mount *mount, instant snapshot,
                            struct share *ret_share);

/* Begins an attempt: d->state has the share and its tree, or those of the snapshot.
 * returns OK, as mount_read_share() */
enum error handle_begin(struct decision *d, const struct mount *mount, instant snapshot);
/* A path of names as a client sent them. returns OK, E_InvalidResourceName,
 * E_InvalidFileOrDirectoryPathName */
enum error handle_path(struct decision *d, const struct bytes *names, size_t count,
                       struct tree_path *ret_path);

enum handle_use {
    HANDLE_READS,   /* also in a snapshot */
    HANDLE_CHANGES, /* the node */
    HANDLE_NAMES,   /* and the directory that it is in, unless it is the root */
};
/* Begins the attempt of a command by a handle: state->place, ->part and ->file are of its node, and
 * d->before and d->changes its part's. *ret_gate: what is open of it, among which the handle is; NULL: it is
 * in a snapshot.
 * returns OK, E_ShareNotFound, E_ResourceNotFound, E_ShareSnapshotOperationNotSupported */
enum error handle_find(struct decision *d, const struct mount *mount,
                       const struct held_handle *handle, enum handle_use use,
                       struct file_gate **ret_gate);
/* The same after handle_begin(). */
enum error handle_find_begun(struct decision *d, const struct held_handle *handle,
                             enum handle_use use, struct file_gate **ret_gate);
/* The same once state->place and ->part are of the handle's node. */
enum error handle_load(struct decision *d, const struct held_handle *handle,
                       struct file_gate **ret_gate);
/* What is open of the part's node, with what the file has that the gate asks for. */
enum error handle_gate(struct decision *d, struct decision_part *part, uint64_t node,
                       const struct file *file, struct file_gate **ret_gate);

/* What is shown of the node of d->state. times: of the handle that shows it; NULL: none */
struct handle_info handle_show(const struct decision *d, const struct handle_times *times,
                               const struct file_gate *gate);
struct handle_info handle_info_of(const struct file *file, uint64_t node, uint64_t parent);

/* ---- closing: handle_close.c ---- */

struct handle_close;
/* Finds the handle. *ret_is_there: false: it was closed by force, or its share is gone, and nothing is to be done.
 * *ret_gate: NULL: it is in a snapshot. returns OK, as handle_find() */
enum error handle_close_begin(struct decision *d, struct handle_close *close, bool *ret_is_there,
                              struct file_gate **ret_gate);
/* Closes the handle of the attempt, and deletes the node if it was the last one of what is to be deleted. */
enum error handle_close_open(struct decision *d, struct handle_close *close,
                             struct file_gate *gate);

/* ---- times: handle_times.c ---- */

/* The handle has written: the file's times, and what the handle shows of them. As of d->now. */
void handle_times_written(const struct decision *d, struct handle_times *times, struct file *file);
/* It shows what is. */
void handle_times_shown(struct handle_times *times);
/* It closes. True: that has changed *file. */
bool handle_times_closed(const struct decision *d, struct handle_times *times, struct file *file);
/* The last write time that it shows. */
instant handle_times_of(const struct decision *d, const struct handle_times *times,
                        const struct file *file);

/* ---- rights: handle_access.c ---- */

/* What the client may be granted of what it desires of the node at state->place, state->file, and at most.
 * needed: rights that it has to have too. returns OK, E_AuthorizationPermissionMismatch */
enum error handle_grant(struct decision *d, const struct mount *mount, uint32_t desired,
                        uint32_t needed, uint32_t *ret_granted, uint32_t *ret_maximum);
/* The same of the node that it makes: it gets all that it desires. descriptor: the node's, canonical */
enum error handle_grant_new(struct decision *d, const struct mount *mount, struct bytes descriptor,
                            uint32_t desired, uint32_t *ret_granted, uint32_t *ret_maximum);
/* May the client give a node of the kind the name of state->place? Delete what is there, state->file?
 * returns OK, E_AuthorizationPermissionMismatch */
enum error handle_may_add(struct decision *d, const struct mount *mount, enum tree_kind kind);
enum error handle_may_delete(struct decision *d, const struct mount *mount);

/* ---- security descriptors: handle_descriptor.c ---- */

/* Canonical, of what is made at state->place with this one: where it lacks parts, they are inherited. raw: ptr NULL:
 * all of it is.
 * returns OK, E_FileInvalidPermission, as handle_set_descriptor_attempt() */
enum error descriptor_of_new(struct decision *d, const struct mount *mount, struct bytes raw,
                             enum tree_kind kind, struct bytes *ret_canonical);
/* A descriptor of the share by its number. returns OK, as decision_fail_store() */
enum error handle_read_descriptor(struct decision *d, uint64_t permission,
                                  struct security_descriptor *ret_descriptor);
/* Those parts of the descriptor of state->file, self-relative. returns OK, as decision_fail_store() */
enum error handle_descriptor(struct decision *d, uint32_t parts, struct bytes *ret_descriptor);

#endif
