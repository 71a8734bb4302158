#include "handles/durable_handle.h"

#include "file/file_operations.h"
#include "handles/handle_private.h"

enum error handle_disconnect_attempt(struct decision *d, void *of)
{
    struct handle_disconnect *leave = of;
    struct open_state *opens;
    bool is_there;
    enum error e = handle_close_begin(d, &leave->close, &is_there, &opens);

    leave->stays = false;
    if (!is_there || !opens)
        return e;
    e = open_state_disconnect(opens, leave->close.handle->id, &leave->durable, &leave->stays);
    leave->until = d->now + leave->durable.ticks;
    if (!e && !leave->stays)
        e = handle_close_open(d, &leave->close, opens);
    return e;
}

enum error handle_overdue_attempt(struct decision *d, void *of)
{
    struct handle_overdue *overdue = of;
    struct open_state *opens;
    bool is_there;
    enum error e = handle_close_begin(d, &overdue->close, &is_there, &opens);

    if (is_there && opens && open_state_has_expired(opens, overdue->close.handle->id))
        e = handle_close_open(d, &overdue->close, opens);
    return e;
}

/* ---- reconnect ---- */

/* Finds the node of a disconnected handle. Returns OK, E_ResourceNotFound, or an error of
 * decision_fail_store(). */
static enum error find_node(struct decision *d, uint64_t id, uint64_t *ret_node)
{
    struct bytes value;
    enum store_result result = decision_index_get(d, file_state(d)->share.space,
                                                  handle_reconnect_key(d->arena, id), &value);

    if (result == STORE_NOT_FOUND)
        return E_ResourceNotFound;
    if (!result && !handle_reconnect_decode(value, ret_node))
        result = record_is_unknown("the way back to a handle", value);
    return result ? decision_fail_store(d, result) : OK;
}

enum error disconnected_handle_attempt(struct decision *d, void *of)
{
    struct disconnected_handle *disconnected = of;
    struct file_state *state;
    struct open_state *opens;
    struct handle shown;
    enum error e = handle_begin(d, disconnected->tree_connect, 0);

    disconnected->handle = (struct held_handle){ .id = disconnected->id };
    if (!e)
        e = find_node(d, disconnected->id, &disconnected->handle.node);
    if (!e)
        e = handle_find_begun(d, &disconnected->handle, HANDLE_READS, &opens);
    if (!e)
        e = open_state_disconnected(opens, disconnected->id, &shown);
    if (e)
        return e;
    state = file_state(d);
    disconnected->handle.kind = state->place.entry.kind;
    disconnected->handle.parent =
        tree_place_is_root(&state->place) ? TREE_ROOT : tree_place_parent(&state->place);
    disconnected->handle.granted = shown.durable.granted;
    disconnected->handle.times = shown.durable.times;
    disconnected->durable = shown.durable;
    disconnected->persists = shown.persists;
    return OK;
}

/* Finds the node by the path sent by the client. Returns OK, E_InvalidInput: missing, or another
 * node. */
static enum error find_named(struct decision *d, const struct handle_reconnect *back)
{
    struct file_state *state = file_state(d);
    struct tree_path path;
    enum tree_result found;
    enum error e = handle_path(d, back->names, back->name_count, &path);

    if (e)
        return E_InvalidInput;
    found = tree_find(&state->tree, &path, TREE_TO_READ, &state->place);
    if (found) {
        e = file_fail_tree(d, found);
        return e == E_ParentNotFound || e == E_ResourceNotFound ? E_InvalidInput : e;
    }
    if (!state->place.exists || state->place.entry.id != back->handle->node)
        return E_InvalidInput;
    return tree_open_node(&state->tree, &state->place, &state->part)
               ? decision_fail_store(d, state->tree.failed)
               : OK;
}

static enum error find(struct decision *d, const struct handle_reconnect *back,
                       struct open_state **ret_opens)
{
    enum error e = handle_begin(d, back->tree_connect, 0);

    if (e)
        return e;
    if (!back->names)
        return handle_find_begun(d, back->handle, HANDLE_CHANGES, ret_opens);
    e = find_named(d, back);
    if (!e)
        return handle_load(d, back->handle, ret_opens);
    if (e != E_InvalidInput)
        return e;
    /* if the file was replaced, the handle may have been closed */
    e = handle_find_begun(d, back->handle, HANDLE_READS, ret_opens);
    return e ? e : E_InvalidInput;
}

enum error handle_reconnect_attempt(struct decision *d, void *of)
{
    struct handle_reconnect *back = of;
    const struct handle from = { .session = back->session,
                                 .client_address = back->client_address,
                                 .client_name = back->client_name };
    struct caching_given given;
    struct open_state *opens;
    enum error e = find(d, back, &opens);

    if (!e)
        e = open_state_reconnect(opens, back->handle->id, &from, &given);
    if (e)
        return e;
    back->given = given;
    back->info = handle_show(d, &back->handle->times, opens);
    return OK;
}

enum error handle_replay_attempt(struct decision *d, void *of)
{
    struct handle_replay *again = of;
    struct open_state *opens;
    enum error e = handle_find(d, again->tree_connect, again->handle, HANDLE_CHANGES, &opens);

    if (!e)
        e = open_state_caching(opens, again->handle->id, &again->given);
    if (!e)
        again->info = handle_show(d, &again->handle->times, opens);
    return e;
}
