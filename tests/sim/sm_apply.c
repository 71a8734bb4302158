/* What a commit of SMB makes of a state. MS-FSA 2.1.5 */
#include "fs_away.h"
#include "fs_change.h"
#include "fs_opens.h"
#include "sm_model.h"
#include "world.h"

static unsigned make_node(const struct sm_ask *ask, struct fs_state *state)
{
    unsigned at = fs_free_place(state);
    struct fs_node made = { .exists = true,
                            .is_directory = ask->kind == SM_DIRECTORY,
                            .id = ++state->ids,
                            .version = state->since,
                            .content = state->since };

    /* Its path is looked up before it has a place there. */
    fs_set_path(state, &ask->path, &made);
    made.permission = fs_inherited(state->nodes[made.parent].permission, made.is_directory);
    fs_add_permission(state, made.permission);
    state->nodes[at] = made;
    return at;
}

static void overwrite(const struct sm_ask *ask, struct fs_state *state, struct fs_node *node)
{
    fs_cut(node, 0, state->since);
    if (ask->disposition == SM_SUPERSEDE)
        node->metadata = 0;
    fs_write_node(state, node);
}

static uint64_t open_node(const struct sm_ask *ask, const struct sm_expected *expected,
                          struct fs_state *state, const struct sm_seen *seen)
{
    const struct fs_passes passes = fs_passes();
    unsigned at = expected->node, i = 0, holds;

    if (at == FS_NODES)
        at = make_node(ask, state);
    else if (ask->disposition != SM_OPEN_THERE && ask->disposition != SM_OPEN_IF)
        overwrite(ask, state, &state->nodes[at]);
    if (expected->node < FS_NODES)
        fs_ask_others(state, &passes, false);
    holds = state->nodes[at].is_directory
                ? 0
                : fs_grant(state, state->nodes[at].id, ask->caching, ask->key == 0);
    while (i < FS_OPENS && state->opens[i].id > 0)
        i++;
    if (i == FS_OPENS)
        world_fail("the model has no room for another open");
    state->opens[i] =
        (struct fs_open){ .id = ++state->ids,
                          .node = state->nodes[at].id,
                          .client = seen->client,
                          .volatile_id = seen->volatile_id,
                          .handle = seen->handle,
                          .access = ask->access,
                          .share = ask->share,
                          .deletes = ask->deletes,
                          .is_durable = ask->is_durable && (holds & CACHES_H),
                          .persists = ask->persists && !state->nodes[at].is_directory,
                          .kept_ns = ask->kept_s > 0 ? ask->kept_s * FS_SECOND_NS : FS_KEPT_NS,
                          .create = ask->create,
                          .key = ask->key,
                          .is_oplock = ask->key == 0,
                          .holds = holds,
                          .told = holds,
                          .breaks_to = holds };
    return state->opens[i].id;
}

/* Its client has lost the connection: it is kept if it persists, or if the client caches the handle and was not asked
 * for anything. MS-SMB2 3.3.7.1 */
bool sm_leave(struct fs_state *state, uint64_t id)
{
    struct fs_open *open = fs_open_in(state, id);
    const struct fs_node *node = fs_node_of(state, open->node);

    bool may_stay = open->persists ||
                    (open->is_durable && (open->holds & CACHES_H) && open->told == open->holds);

    if (!may_stay || open->deletes || node->is_delete_pending)
        return false;
    fs_leave_open(open);
    return true;
}

static void write_slots(const struct sm_ask *ask, struct fs_node *node, uint64_t commit)
{
    for (unsigned i = ask->from; i < ask->to; i++) {
        node->slots[i] = fs_slot_value(ask->seed, i);
        node->written[i] = commit;
    }
    if (ask->to > node->length)
        node->length = ask->to;
    node->copy = NULL;
}

static void lock(const struct sm_ask *ask, struct fs_state *state)
{
    unsigned i = 0;

    while (i < FS_LOCKS && state->locks[i].open > 0)
        i++;
    if (i == FS_LOCKS)
        world_fail("the model has no room for another lock");
    state->locks[i] = (struct fs_lock){ .open = ask->handle.open,
                                        .from = ask->from,
                                        .to = ask->to,
                                        .is_exclusive = ask->is_exclusive,
                                        .since = state->since };
}

uint64_t sm_apply(const struct sm_ask *ask, const struct sm_expected *expected, uint64_t commit,
                  const struct sm_seen *seen, bool writes)
{
    const struct fs_passes passes = fs_passes();
    struct fs_state *state = fs_next_state(commit);
    struct fs_node *node = &state->nodes[expected->node];
    struct fs_open *open;

    if (ask->op != SM_OPEN)
        fs_ask_others(state, &passes, false);

    switch ((int)ask->op) {
    case SM_RETURN:
        open = fs_open_in(state, fs_open_created(state, ask->create)->id);
        open->is_away = open->is_of_before = open->may_have_ended = false;
        open->volatile_id = seen->volatile_id;
        return open->id;
    case SM_OPEN:
        return open_node(ask, expected, state, seen);
    case SM_WRITE:
        write_slots(ask, node, commit);
        break;
    case SM_SET_LENGTH:
        fs_cut(node, ask->length, commit);
        break;
    case SM_LOCK:
        lock(ask, state);
        break;
    case SM_UNLOCK:
        fs_unlock(state, ask->handle.open, ask->from, ask->to);
        break;
    case SM_SET_DELETE:
        node->is_delete_pending = ask->deletes;
        break;
    case SM_RENAME:
        fs_move(state, &ask->path, node);
        break;
    case SM_CLOSE:
        fs_close_open(state, fs_open_in(state, ask->handle.open));
        break;
    default:
        break;
    }
    if (writes)
        fs_write_node(state, node);
    return 0;
}
