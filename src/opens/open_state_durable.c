/* Disconnect and reconnect of handles. MS-SMB2 3.3.7.1, 3.3.5.9.7, 3.3.5.9.12, 3.3.4.6, 3.3.4.7 */
#include "opens/open_state_private.h"

#include "service/small_record.h"

/* ---- disconnect ---- */

/* Reads the handle's index entry. It is read later than the file, so the handle may have been
 * closed in between. */
static enum error read_handle(struct file_gate *gate, uint64_t id, struct handle *ret_handle)
{
    struct decision *d = gate->d;
    struct bytes key = handle_key(d->arena, gate->node, id), value;
    enum store_result result = decision_index_get(d, gate->part->partition.space, key, &value);

    if (!result && !handle_decode(key, value, ret_handle))
        result = record_is_unknown("the entry of a handle", value);
    if (result == STORE_NOT_FOUND) {
        result = decision_confirm(d);
        result = result ? result : STORE_CORRUPT;
    }
    return result ? decision_fail_store(d, result) : OK;
}

/* Returns true if the open may remain after a disconnect. A disconnect of a persistent open
 * acknowledges its break in progress. */
static bool may_stay(struct file_gate *gate, const struct open_entry *open)
{
    struct caching_entry *entry =
        open->open.caching == NO_CACHING ? NULL : &gate->set.cachings[open->open.caching];

    if (open->deletes || gate->set.is_delete_pending)
        return false;
    if (!open->persists)
        return entry && (entry->caching.holds & CACHING_HANDLE) && !caching_is_breaking(entry);
    if (entry && caching_is_breaking(entry)) {
        caching_settle(entry, entry->caching.breaks_to);
        gate_wakes(gate);
    }
    return true;
}

enum error gate_leave(struct file_gate *gate, uint64_t handle, const struct handle_kept *kept,
                      bool *ret_stays)
{
    struct open_entry *open = open_set_find(&gate->set, handle);
    struct handle shown;
    enum error e;

    *ret_stays = false;
    if (!open)
        return E_ResourceNotFound;
    if (!may_stay(gate, open))
        return OK;
    e = read_handle(gate, handle, &shown);
    if (e)
        return e;
    open->away_until = gate->d->now + kept->ticks;
    shown.away_until = open->away_until;
    shown.kept = *kept;
    gate->is_changed = true;
    gate_write(gate);
    handle_put(gate->part->changes, gate->d->arena, &shown);
    *ret_stays = true;
    return OK;
}

/* ---- reconnect ---- */

bool gate_is_overdue(const struct file_gate *gate, uint64_t handle)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);

    return open && open->away_until > 0 && open->away_until <= gate->d->now;
}

enum error gate_away(struct file_gate *gate, uint64_t handle, struct handle *ret_handle)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);

    if (!open || open->away_until <= gate->d->now) /* 0: connected */
        return E_ResourceNotFound;
    return read_handle(gate, handle, ret_handle);
}

enum error gate_return(struct file_gate *gate, uint64_t handle, const struct handle *from,
                       struct caching_given *ret_given)
{
    struct open_entry *open = open_set_find(&gate->set, handle);
    struct handle shown;
    enum error e = gate_away(gate, handle, &shown);

    if (e)
        return e;
    open->epoch = shown.epoch = open_epoch();
    open->away_until = shown.away_until = 0;
    shown.session = from->session;
    shown.client_address = from->client_address;
    shown.client_name = from->client_name;
    shown.reconnected = gate->d->now;
    if (!shown.persists)
        shown.kept.of_client = bytes_of(NULL, 0);
    gate->is_changed = true;
    gate_write(gate);
    handle_put(gate->part->changes, gate->d->arena, &shown);
    if (!shown.persists)
        handle_delete_return(gate->part->changes, handle);
    *ret_given = gate_given(gate, open->open.caching);
    return OK;
}

enum error gate_now(struct file_gate *gate, uint64_t handle, struct caching_given *ret_given)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);

    if (!open)
        return E_ResourceNotFound;
    *ret_given = gate_given(gate, open->open.caching);
    ret_given->at = 0; /* nothing is committed */
    return OK;
}
