/* Effect of opens, closes, pending deletes and break acknowledgments on the open state. */
#include <assert.h>

#include "opens/open_state_private.h"

/* Returns the index of the caching entry with the key, or NO_CACHING. */
static uint16_t find_caching(const struct open_state *opens, const struct guid *key)
{
    for (size_t i = 0; i < opens->set.caching_count; i++)
        if (guid_equal(&opens->set.cachings[i].key, key))
            return (uint16_t)i;
    return NO_CACHING;
}

/* ---- open ---- */

/* Returns the access that the open needs and the caching that it breaks: none for an attribute-only
 * open, all for an overwrite, otherwise write caching. MS-FSA 2.1.5.1.2.2, 2.1.5.1.2.1 */
static struct file_use use_of_open(const struct open_state *opens,
                                   const struct open_state_open *request)
{
    uint8_t breaks_caching = request->replaces ? CACHING_ALL : request->meets ? CACHING_WRITE : 0;

    return (struct file_use){
        .access = request->access | (request->replaces ? ACCESS_WRITE : 0),
        .share = request->share,
        .breaks_caching = breaks_caching,
        .waits_for = breaks_caching & CACHING_WRITE,
        .needs_writable = request->replaces || (request->access & ACCESS_WRITE),
        .is_open = true,
        .breaks_oplocks_only = !request->replaces && request->meets == MEETS_OPLOCKS,
        .has_waited = opens->d->waits_until > 0,
    };
}

/* Adds an entry for the caching of an open. */
static uint16_t add_caching(struct open_state *opens, const struct open_state_open *request)
{
    struct open_set *set = &opens->set;
    struct caching_entry *entries =
        arena_array(opens->d->arena, set->caching_count + 1, sizeof *entries);

    if (set->caching_count > 0)
        memcpy(entries, set->cachings, set->caching_count * sizeof *entries);
    set->cachings = entries;
    entries[set->caching_count] = (struct caching_entry){
        .key = request->caching_key,
        .caching.is_oplock = request->is_oplock,
        .epoch = request->epoch,
    };
    return (uint16_t)set->caching_count++;
}

struct caching_given open_state_caching_of(const struct open_state *opens, uint16_t number)
{
    const struct caching_entry *entry;

    if (number == NO_CACHING)
        return (struct caching_given){ .holds = 0 };
    entry = &opens->set.cachings[number];
    return (struct caching_given){
        .holds = entry->caching.holds,
        .epoch = entry->epoch,
        .breaks = caching_is_breaking(entry),
        .at = opens->d->now,
    };
}

/* Grants caching to the new open and returns the index of its entry. */
static uint16_t grant(struct open_state *opens, const struct open_state_open *request, uint16_t own,
                      struct caching_given *ret_given)
{
    uint8_t has = open_state_grant(opens, request->caching, request->is_oplock, own);
    struct caching_entry *entry;

    *ret_given = (struct caching_given){ .epoch = request->epoch };
    if (own == NO_CACHING &&
        ((has == 0 && !request->is_lease) || opens->set.caching_count == CACHINGS_MAX))
        return NO_CACHING;
    if (own == NO_CACHING)
        own = add_caching(opens, request);
    entry = &opens->set.cachings[own];
    if (entry->caching.holds != has) {
        caching_settle(entry, has);
        entry->epoch++;
    }
    *ret_given = open_state_caching_of(opens, own);
    return own;
}

/* Returns the id of a new handle: d->now, which is later than all earlier commits of this
 * partition, or the last id + 1 if that is greater. */
static uint64_t new_id(const struct open_state *opens)
{
    const struct open_set *set = &opens->set;
    uint64_t last = set->open_count > 0 ? set->opens[set->open_count - 1].id : 0;

    return opens->d->now > last ? opens->d->now : last + 1;
}

/* Appends an open, which must have the greatest id. */
static void add_open(struct open_state *opens, const struct open_entry *open)
{
    struct open_set *set = &opens->set;
    struct open_entry *entries = arena_array(opens->d->arena, set->open_count + 1, sizeof *entries);

    assert(set->open_count == 0 || set->opens[set->open_count - 1].id < open->id);
    if (set->open_count > 0)
        memcpy(entries, set->opens, set->open_count * sizeof *entries);
    entries[set->open_count++] = *open;
    set->opens = entries;
    opens->is_changed = true;
}

enum error open_state_open(struct open_state *opens, const struct open_state_open *request,
                           struct handle *ret_handle, struct caching_given *ret_given)
{
    uint16_t own = find_caching(opens, &request->caching_key);
    struct file_use use = use_of_open(opens, request);
    struct open_entry open = { .id = new_id(opens),
                               .epoch = open_epoch(),
                               .persists = request->persists,
                               .deletes = request->deletes,
                               .timeout_ticks = request->persists ? request->durable->ticks : 0 };
    enum error e;

    assert(request->access <= ACCESS_ALL && request->share <= ACCESS_ALL);
    assert(request->caching <= CACHING_ALL && request->meets <= MEETS_ALL);
    if (opens->set.open_count == OPENS_MAX)
        return decision_fail(opens->d, E_ServerBusy,
                             "The file has %u open handles, which is the maximum.", OPENS_MAX);
    e = open_state_check(opens, &use, own);
    if (e)
        return e;
    open.open = (struct file_open){ .access = request->access,
                                    .share = request->share,
                                    .meets = request->meets };
    open.open.caching = grant(opens, request, own, ret_given);
    add_open(opens, &open);
    *ret_handle = (struct handle){ .node = opens->node,
                                   .id = open.id,
                                   .epoch = open.epoch,
                                   .persists = open.persists,
                                   .access = request->access,
                                   .session = request->session,
                                   .client_address = request->client_address,
                                   .client_name = request->client_name,
                                   .opened = opens->d->now };
    if (request->persists)
        ret_handle->durable = *request->durable;
    open_state_write(opens);
    handle_put(opens->part->changes, opens->d->arena, ret_handle);
    return OK;
}

/* ---- close ---- */

static void set_pending(struct open_state *opens, bool is_pending)
{
    if (opens->set.is_delete_pending == is_pending)
        return;
    opens->set.is_delete_pending = is_pending;
    opens->is_changed = true;
}

/* Adds or removes the node's entry in the index of pending deletes. */
static void index_pending(struct open_state *opens)
{
    if (opens->set.is_delete_pending)
        pending_put(opens->part->changes, opens->node);
    else
        pending_delete(opens->part->changes, opens->node);
}

enum error open_state_close(struct open_state *opens, uint64_t handle, bool by_force,
                            bool *ret_deletes)
{
    struct open_entry *open = open_set_find(&opens->set, handle);
    bool was_pending = opens->set.is_delete_pending;
    struct open_entry closed;
    enum error e;
    size_t index;

    *ret_deletes = false;
    if (!open)
        return E_ResourceNotFound;
    closed = *open;
    index = (size_t)(open - opens->set.opens);
    opens->set.open_count--;
    memmove(open, open + 1, (opens->set.open_count - index) * sizeof *open);
    e = open_state_drop_locks(opens);
    if (e)
        return e;
    if (closed.deletes && !by_force)
        set_pending(opens, true);
    opens->is_changed = true;
    open_state_wakes(opens);
    *ret_deletes = opens->set.open_count == 0 && opens->set.is_delete_pending;
    if (opens->set.open_count == 0)
        set_pending(opens, false);
    open_state_write(opens);
    handle_delete(opens->part->changes, opens->node, &closed);
    if (opens->set.is_delete_pending != was_pending)
        index_pending(opens);
    return OK;
}

void open_state_close_all(struct open_state *opens, bool *ret_deletes)
{
    struct open_set *set = &opens->set;
    const struct open_entry *closed = set->opens;
    size_t count = set->open_count;
    bool was_pending = set->is_delete_pending;

    *ret_deletes = count > 0 && was_pending;
    if (count == 0)
        return;
    set->open_count = 0;
    set_pending(opens, false);
    opens->is_changed = true; /* open_state_write() drops the locks, which have no owner left */
    open_state_wakes(opens);
    open_state_write(opens);
    for (size_t i = 0; i < count; i++)
        handle_delete(opens->part->changes, opens->node, &closed[i]);
    if (was_pending)
        index_pending(opens);
}

enum error open_state_set_delete_pending(struct open_state *opens, uint64_t handle, bool is_pending)
{
    const struct open_entry *open = open_set_find(&opens->set, handle);
    enum error e = OK;

    if (!open)
        return E_ResourceNotFound;
    if (!(open->open.access & ACCESS_DELETE))
        return E_SharingViolation;
    if (is_pending && opens->is_read_only)
        return E_ReadOnlyAttribute;
    if (opens->set.is_delete_pending == is_pending)
        return OK;
    if (is_pending)
        e = open_state_break_handles(opens, handle);
    if (e)
        return e;
    set_pending(opens, is_pending);
    open_state_wakes(opens);
    open_state_write(opens);
    index_pending(opens);
    return OK;
}

/* ---- caching ---- */

/* Returns the target of the next break. Handle and write caching are broken first and read caching
 * in a second break, as in Windows (smbtorture, smb2.lease.breaking3). */
static uint8_t next_step(const struct caching_entry *entry)
{
    uint8_t to = entry->caching.breaks_to;

    return entry->caching.holds == CACHING_READ ? to : to | (entry->caching.holds & CACHING_READ);
}

enum error open_state_acknowledge(struct open_state *opens,
                                  const struct break_acknowledgment *answer)
{
    uint16_t number = find_caching(opens, &answer->key);
    struct caching_entry *entry;
    uint8_t keeps = answer->keeps;

    if (number == NO_CACHING)
        return E_ResourceNotFound;
    entry = &opens->set.cachings[number];
    if (!caching_is_breaking(entry) || (answer->is_overdue && answer->epoch != entry->epoch))
        return E_ResourceNotFound;
    if (entry->caching.is_oplock)
        keeps &= entry->reported;
    if (keeps & ~entry->reported)
        return E_InvalidInput;
    entry->caching.holds = entry->reported = keeps;
    entry->caching.breaks_to &= keeps;
    if (entry->caching.breaks_to != keeps)
        open_state_notify_break(opens, entry, next_step(entry));
    opens->is_changed = true;
    open_state_wakes(opens);
    open_state_write(opens);
    return OK;
}
