/* What a commit makes of a state. rest: File-Service-REST-API; semantics 2.2, 3.5, 8.1 */
#include "fs_blobs.h"
#include "fs_change.h"
#include "fs_copy.h"
#include "fs_deleted.h"
#include "fs_opens.h"

/* While it is pending there are only zeros. */
static void copy(const struct fs_ask *ask, const struct fs_node *source, const struct fs_copy *copy,
                 struct fs_node *to)
{
    to->length = source->length;
    if (ask->metadata == 0)
        to->metadata = source->metadata;
    to->copy = copy;
    to->copied_as = copy->was_pending ? FS_COPIES_STILL : FS_COPIED;
    to->copied = copy->was_pending ? 0 : fs_copy_bytes(copy);
    for (unsigned i = 0; i < FS_SLOTS && !copy->was_pending; i++) {
        to->slots[i] = source->slots[i];
        if (copy->is_dense && i < to->length && to->slots[i] == 0)
            to->slots[i] = FS_ZEROS;
        to->written[i] = to->slots[i] > 0 ? to->version : 0;
    }
}

static void create(const struct fs_ask *ask, struct fs_state *state, const struct fs_node *source,
                   const struct fs_copy *of)
{
    unsigned at = fs_find(state, &ask->path);
    struct fs_node made = { .exists = true,
                            .is_directory = ask->op == FS_CREATE_DIRECTORY,
                            .metadata = ask->metadata,
                            .length = ask->length,
                            .permission = ask->permission };
    bool is_open = false;

    if (at < FS_NODES) {
        made.above = fs_etag_to_pass(&state->nodes[at]);
        made.lease = state->nodes[at].lease;
        fs_forget_lease(&made);
        is_open = fs_is_open(state, &state->nodes[at]);
    } else {
        at = fs_free_place(state);
    }
    fs_set_path(state, &ask->path, &made);
    if (ask->permission == 0)
        made.permission = fs_inherited(state->nodes[made.parent].permission, made.is_directory);
    fs_add_permission(state, made.permission);
    made.id = ++state->ids;
    made.version = made.content = state->since;
    if (is_open) { /* it stays the file that those know who have it open. decision: 338 */
        made.id = state->nodes[at].id;
        made.file_id = state->nodes[at].file_id;
        made.is_other_case = state->nodes[at].is_other_case;
    }
    if (source)
        copy(ask, source, of, &made);
    state->nodes[at] = made;
}

/* What is written in each slot of the range. */
static unsigned value_of(const struct fs_ask *ask, const struct fs_node *source, unsigned slot)
{
    unsigned from = ask->source_from + slot - ask->from;

    if (ask->op == FS_PUT_RANGE)
        return fs_slot_value(ask->seed, slot);
    if (ask->op == FS_CLEAR_RANGE)
        return 0;
    /* Zeros that are written are bytes. */
    return from < FS_SLOTS && source->slots[from] > 0 ? source->slots[from] : FS_ZEROS;
}

static void write_slots(const struct fs_ask *ask, struct fs_node *node,
                        const struct fs_node *source, uint64_t commit)
{
    unsigned values[FS_SLOTS];

    for (unsigned i = ask->from; i < ask->to; i++)
        values[i] = value_of(ask, source, i);
    for (unsigned i = ask->from; i < ask->to; i++) {
        node->slots[i] = values[i];
        node->written[i] = commit;
    }
    node->copy = NULL;
}

static void change_node(const struct fs_ask *ask, struct fs_node *node,
                        const struct fs_node *source, uint64_t commit)
{
    switch ((int)ask->op) {
    case FS_PUT_RANGE:
    case FS_PUT_RANGE_FROM_URL:
    case FS_CLEAR_RANGE:
        write_slots(ask, node, source, commit);
        break;
    case FS_SET_LENGTH:
        fs_cut(node, ask->length, commit);
        if (ask->permission > 0)
            node->permission = ask->permission;
        break;
    case FS_SET_METADATA:
    case FS_SET_DIRECTORY_METADATA:
        node->metadata = ask->metadata;
        break;
    case FS_ABORT_COPY:
        fs_end_copy(node, FS_COPY_WAS_ABORTED, commit);
        break;
    case FS_LEASE_FILE:
        (void)fs_lease_act(&node->lease, ask, true);
        break;
    default:
        node->exists = false;
        break;
    }
}

static void apply_to_share(const struct fs_ask *ask, struct fs_state *state)
{
    switch ((int)ask->op) {
    case FS_CREATE_SHARE:
        state->exists = true;
        state->share = state->since;
        state->quota = FS_QUOTA_DEFAULT;
        state->nodes[FS_ROOT] =
            (struct fs_node){ .exists = true, .is_directory = true, .version = state->since };
        break;
    case FS_SNAPSHOT_SHARE:
        fs_keep_snapshot(state);
        break;
    case FS_DELETE_SNAPSHOT:
        fs_end_snapshot(fs_view(&ask->snapshot, state)->made, state->since);
        break;
    case FS_SET_QUOTA:
        state->quota = ask->quota;
        break;
    case FS_LEASE_SHARE:
        (void)fs_lease_act(&state->lease, ask, false);
        break;
    case FS_DELETE_SHARE:
        fs_delete_share(state);
        break;
    case FS_RESTORE_SHARE:
        fs_restore_share(state, ask->snapshot.commit);
        break;
    case FS_KEEP_SHARES:
        state->retention = ask->retention;
        break;
    default: /* a permission */
        break;
    }
}

void fs_apply(const struct fs_ask *ask, uint64_t commit, const struct fs_node *source,
              const struct fs_copy *copy, const struct fs_passes *passes)
{
    struct fs_state *state = fs_next_state(commit);
    unsigned node;

    fs_ask_others(state, passes, false);
    fs_add_permission(state, ask->permission);
    if (fs_is_of_blob(ask->op)) {
        fs_apply_blob(ask, state);
        return;
    }
    if (!fs_has_path(ask->op)) {
        apply_to_share(ask, state);
        return;
    }
    if (ask->op == FS_CREATE_DIRECTORY || ask->op == FS_CREATE_FILE || ask->op == FS_COPY_FILE) {
        create(ask, state, source, copy);
        return;
    }
    if (ask->op == FS_RENAME_FILE || ask->op == FS_RENAME_DIRECTORY) {
        node = fs_find(state, &ask->source);
        fs_move(state, &ask->path, &state->nodes[node]);
    } else {
        node = fs_find(state, &ask->path);
        change_node(ask, &state->nodes[node], source, commit);
    }
    if (fs_writes_node(ask->op))
        fs_write_node(state, &state->nodes[node]);
}
