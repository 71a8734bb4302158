/* What the files of the model share: one request, beside one state. */
#ifndef LAGRA_SIM_MODEL_PRIVATE_H
#define LAGRA_SIM_MODEL_PRIVATE_H

#include "model.h"

struct run {
    const struct ask *ask;
    struct doubt doubt;
    uint64_t from_ns, to_ns;
    bool commits;
    struct expected *out;
};

void rule_refuse(struct run *run, int status, const char *code);
void rule_succeed(struct run *run, int status, bool changes);
/* The blob's next version: a new ETag, above the one before. */
void rule_change_blob(struct run *run, int status);
/* The same, and the lease is left alone. */
void rule_new_version(struct run *run);
/* A number that no other write has. */
uint64_t rule_next_write(const struct run *run);
/* These refuse and return false, or return true. */
bool rule_check_kind(struct run *run, enum blob_kind kind);
bool rule_check_archived(struct run *run, const struct blob_state *b);
/* One that is not deleted. */
const struct snapshot_state *rule_find_snapshot(const struct blob_state *b, const char *time,
                                                bool is_version);
/* Is that the id of the current version? */
bool rule_is_current(const struct blob_state *b, const char *time, bool is_version);
struct ending rule_ending_after(const struct run *run, uint64_t seconds);
/* Can nobody know whether what was due then has happened? */
bool rule_is_doubtful(const struct run *run, const struct ending *due);
/* Has it? */
bool rule_came_back(const struct run *run, const struct ending *due);

/* One that none is known to be below. */
struct stamp *rule_new_stamp(const struct run *run);

/* model_version.c */
/* All versions are of one kind. False: it was refused. */
bool rule_check_versions(struct run *run, enum blob_kind kind);
/* Another blob, of that kind, is to take the place of what there is. What stays of that as a version is added. False: it was
 * refused. *ret_keeps: does it stay? */
bool rule_begin_version(struct run *run, enum blob_kind kind, bool *ret_keeps);
/* The base is deleted, and stays as a version. */
void rule_delete_to_version(struct run *run);
/* A snapshot is made, and with it a version. Returns its time in ticks. */
uint64_t rule_begin_snapshot(struct run *run);
/* A snapshot of the base as it is, in its place in the order of times. at: its time; 0: not known yet */
struct snapshot_state *rule_add_state(struct run *run, uint64_t at);

/* model_kept.c */
/* Of what is soft-deleted: is it so still? */
bool rule_is_kept(const struct run *run, uint64_t expires);
unsigned rule_live_snapshots(const struct blob_state *b);
void rule_delete_snapshot(struct run *run);
void rule_delete_base(struct run *run);
/* A blob of that kind is to be made where there is one, or one that is soft-deleted. False: it was refused. */
bool rule_make_way(struct run *run, enum blob_kind kind);
/* Blocks are staged, and there is no blob. What is soft-deleted stays, whatever its kind. False: it was refused. */
bool rule_make_place(struct run *run);
/* What a copy has replaced, which was there while it was pending. */
void rule_replace_by_copy(struct run *run);
void rule_undelete(struct run *run);
void rule_forget_expired(struct blob_state *b, uint64_t latest);

/* model_kinds.c */
void rule_append_block(struct run *run);
void rule_seal(struct run *run);
void rule_put_page(struct run *run);
void rule_set_properties(struct run *run);
void rule_page_ranges(struct run *run);
void rule_set_tier(struct run *run);
/* From the archive, as fast as is asked. decision: 86 */
void rule_bring_back(struct run *run, enum tier tier);
/* Before anything is looked at. */
void rule_begin_kind(struct run *run);

/* model_permit.c. Before the state is known, and beside it. */
bool rule_check_signature(struct run *run);
bool rule_check_permission(struct run *run, bool exists);

/* model_protect.c */
/* These refuse what a policy or a hold protects and return false, or return true: the deletion that is asked for; any
 * other change of the base; the deletion of the container. */
bool rule_check_deletion(struct run *run);
bool rule_check_protection(struct run *run);
bool rule_check_drop(struct run *run);
/* The policy and the hold of a new state of the blob: those of the request, or the container's default. False: it was
 * refused. */
bool rule_give_shield(struct run *run, struct shield *ret_shield);
struct shield rule_default_shield(const struct run *run);
/* Set and Delete Blob Immutability Policy, Set Blob Legal Hold. */
void rule_set_shield(struct run *run);
/* The base is about to be replaced by a blob of that kind, which may keep its date. */
void rule_set_created(struct run *run, enum blob_kind kind);
void rule_protect_container(struct run *run);
/* Has the request the key with which something was written? False: it was refused. */
bool rule_check_key(struct run *run, unsigned key);

/* model_copy.c */
void rule_copy(struct run *run);
void rule_abort_copy(struct run *run);
/* What is pending ends so. */
void rule_end_copy(struct run *run, enum copy_state how);

#endif
