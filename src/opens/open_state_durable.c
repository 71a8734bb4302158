/* Disconnects and reconnects handles. MS-SMB2 3.3.7.1, 3.3.5.9.7, 3.3.5.9.12, 3.3.4.6, 3.3.4.7 */
#include "opens/open_state_private.h"

#include "service/small_record.h"

/* ---- disconnect ---- */

/* Reads the handle's index entry, which may be missing: it is read later than the file, and the
 * handle may have been closed in between. */
static enum error read_handle(struct open_state *opens, uint64_t id, struct handle *ret_handle)
{
    struct decision *d = opens->d;
    struct bytes key = handle_key(d->arena, opens->node, id), value;
    enum store_result result = decision_index_get(d, opens->part->partition.space, key, &value);

    if (!result && !handle_decode(key, value, ret_handle))
        result = record_is_unknown("the entry of a handle", value);
    if (result == STORE_NOT_FOUND) {
        result = decision_confirm(d);
        result = result ? result : STORE_CORRUPT;
    }
    return result ? decision_fail_store(d, result) : OK;
}

/* Returns true if the open may be retained after a disconnect. If a persistent open has a break in
 * progress, the disconnect acknowledges it. */
static bool may_stay(struct open_state *opens, const struct open_entry *open)
{
    struct caching_entry *entry =
        open->open.caching == NO_CACHING ? NULL : &opens->set.cachings[open->open.caching];

    if (open->deletes || opens->set.is_delete_pending)
        return false;
    if (!open->persists)
        return entry && (entry->caching.holds & CACHING_HANDLE) && !caching_is_breaking(entry);
    if (entry && caching_is_breaking(entry)) {
        caching_settle(entry, entry->caching.breaks_to);
        open_state_wakes(opens);
    }
    return true;
}

enum error open_state_disconnect(struct open_state *opens, uint64_t handle,
                                 const struct durable_handle_state *durable, bool *ret_stays)
{
    struct open_entry *open = open_set_find(&opens->set, handle);
    struct handle shown;
    enum error e;

    *ret_stays = false;
    if (!open)
        return E_ResourceNotFound;
    if (!may_stay(opens, open))
        return OK;
    e = read_handle(opens, handle, &shown);
    if (e)
        return e;
    open->disconnected_until = opens->d->now + durable->ticks;
    shown.disconnected_until = open->disconnected_until;
    shown.durable = *durable;
    opens->is_changed = true;
    open_state_write(opens);
    handle_put(opens->part->changes, opens->d->arena, &shown);
    *ret_stays = true;
    return OK;
}

/* ---- reconnect ---- */

bool open_state_has_expired(const struct open_state *opens, uint64_t handle)
{
    const struct open_entry *open = open_set_find(&opens->set, handle);

    return open && open->disconnected_until > 0 && open->disconnected_until <= opens->d->now;
}

enum error open_state_disconnected(struct open_state *opens, uint64_t handle,
                                   struct handle *ret_handle)
{
    const struct open_entry *open = open_set_find(&opens->set, handle);

    if (!open || open->disconnected_until <= opens->d->now) /* 0 means connected */
        return E_ResourceNotFound;
    return read_handle(opens, handle, ret_handle);
}

enum error open_state_reconnect(struct open_state *opens, uint64_t handle,
                                const struct handle *from, struct caching_given *ret_given)
{
    struct open_entry *open = open_set_find(&opens->set, handle);
    struct handle shown;
    enum error e = open_state_disconnected(opens, handle, &shown);

    if (e)
        return e;
    open->epoch = shown.epoch = open_epoch();
    open->disconnected_until = shown.disconnected_until = 0;
    shown.session = from->session;
    shown.client_address = from->client_address;
    shown.client_name = from->client_name;
    shown.reconnected = opens->d->now;
    if (!shown.persists)
        shown.durable.of_client = bytes_of(NULL, 0);
    opens->is_changed = true;
    open_state_write(opens);
    handle_put(opens->part->changes, opens->d->arena, &shown);
    if (!shown.persists)
        handle_delete_reconnect(opens->part->changes, handle);
    *ret_given = open_state_caching_of(opens, open->open.caching);
    return OK;
}

enum error open_state_caching(struct open_state *opens, uint64_t handle,
                              struct caching_given *ret_given)
{
    const struct open_entry *open = open_set_find(&opens->set, handle);

    if (!open)
        return E_ResourceNotFound;
    *ret_given = open_state_caching_of(opens, open->open.caching);
    ret_given->at = 0; /* nothing is committed */
    return OK;
}
