/* What a commit makes of a state. rest: File-Service-REST-API; semantics 2.2, 3.5, 8.1 */
#include "fs_deleted.h"
#include "fs_opens.h"
#include "world.h"

static uint64_t etag_to_pass(const struct fs_node *node)
{
    return node->etag > 0 ? node->etag : node->above;
}

/* What is written ends a lease that is broken. semantics 3.5 */
static void forget_lease(struct fs_node *node)
{
    if (node->lease.state == FS_BROKEN)
        node->lease = (struct fs_lease){ .state = FS_AVAILABLE };
}

static void copy(const struct fs_ask *ask, const struct fs_node *source, struct fs_node *to)
{
    to->length = source->length;
    if (ask->metadata == 0)
        to->metadata = source->metadata;
    for (unsigned i = 0; i < FS_SLOTS; i++) {
        to->slots[i] = source->slots[i];
        to->written[i] = source->slots[i] > 0 ? to->version : 0;
    }
}

static void add_permission(struct fs_state *state, unsigned permission)
{
    if (permission == 0)
        return;
    state->permissions |= 1u << permission;
    state->doubtful &= ~(1u << permission);
}

static void create(const struct fs_ask *ask, struct fs_state *state, const struct fs_node *source)
{
    struct fs_path parent = ask->path;
    unsigned at = fs_find(state, &ask->path);
    struct fs_node made = { .exists = true,
                            .is_directory = ask->op == FS_CREATE_DIRECTORY,
                            .name = ask->path.names[ask->path.depth - 1],
                            .metadata = ask->metadata,
                            .length = ask->length,
                            .permission = ask->permission };
    bool is_open = false;

    if (at < FS_NODES) {
        made.above = etag_to_pass(&state->nodes[at]);
        made.lease = state->nodes[at].lease;
        forget_lease(&made);
        is_open = fs_is_open(state, &state->nodes[at]);
    }

    parent.depth--;
    for (unsigned i = FS_ROOT + 1; at == FS_NODES && i < FS_NODES; i++)
        if (!state->nodes[i].exists)
            at = i;
    if (at == FS_NODES)
        world_fail("the model has no room for another file");
    made.is_other_case = ask->path.cases >> parent.depth & 1;
    made.parent = fs_find(state, &parent);
    if (ask->permission == 0)
        made.permission = fs_inherited(state->nodes[made.parent].permission, made.is_directory);
    add_permission(state, made.permission);
    made.id = ++state->ids;
    made.version = made.content = state->since;
    if (is_open) { /* it stays the file that those know who have it open. decision: 338 */
        made.id = state->nodes[at].id;
        made.file_id = state->nodes[at].file_id;
        made.is_other_case = state->nodes[at].is_other_case;
    }
    if (source)
        copy(ask, source, &made);
    state->nodes[at] = made;
}

static void rename_node(const struct fs_ask *ask, struct fs_state *state)
{
    unsigned from = fs_find(state, &ask->source), to = fs_find(state, &ask->path);
    struct fs_path parent = ask->path;

    parent.depth--;
    if (to < FS_NODES && to != from)
        state->nodes[to].exists = false;
    state->nodes[from].parent = fs_find(state, &parent);
    state->nodes[from].name = ask->path.names[parent.depth];
    state->nodes[from].is_other_case = ask->path.cases >> parent.depth & 1;
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
}

static void set_length(const struct fs_ask *ask, struct fs_node *node, uint64_t commit)
{
    for (unsigned i = ask->length; i < FS_SLOTS && i < node->length; i++) {
        node->slots[i] = 0;
        node->written[i] = commit;
    }
    node->length = ask->length;
    if (ask->permission > 0)
        node->permission = ask->permission;
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
        set_length(ask, node, commit);
        break;
    case FS_SET_METADATA:
    case FS_SET_DIRECTORY_METADATA:
        node->metadata = ask->metadata;
        break;
    case FS_LEASE_FILE:
        (void)fs_lease_act(&node->lease, ask, true);
        break;
    default:
        node->exists = false;
        break;
    }
}

static void write_node(struct fs_state *state, unsigned at)
{
    struct fs_node *node = &state->nodes[at];

    node->above = etag_to_pass(node);
    node->etag = 0;
    node->version = state->since;
    forget_lease(node);
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
              const struct fs_passes *passes)
{
    struct fs_state *state = fs_next_state(commit);
    unsigned node;

    fs_ask_others(state, passes, false);
    add_permission(state, ask->permission);
    if (!fs_has_path(ask->op)) {
        apply_to_share(ask, state);
        return;
    }
    if (ask->op == FS_CREATE_DIRECTORY || ask->op == FS_CREATE_FILE || ask->op == FS_COPY_FILE) {
        create(ask, state, source);
        return;
    }
    if (ask->op == FS_RENAME_FILE || ask->op == FS_RENAME_DIRECTORY) {
        node = fs_find(state, &ask->source);
        rename_node(ask, state);
    } else {
        node = fs_find(state, &ask->path);
        change_node(ask, &state->nodes[node], source, commit);
    }
    if (fs_writes_node(ask->op))
        write_node(state, node);
}
