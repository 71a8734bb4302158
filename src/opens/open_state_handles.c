/* Opening and closing handles, delete pending, and acknowledgments at the gate. */
#include <assert.h>

#include "opens/open_state_private.h"

/* Returns the number of the entry with the key, or NO_CACHING. */
static uint16_t find_caching(const struct file_gate *gate, const struct guid *key)
{
    for (size_t i = 0; i < gate->set.caching_count; i++)
        if (guid_equal(&gate->set.cachings[i].key, key))
            return (uint16_t)i;
    return NO_CACHING;
}

/* ---- open ---- */

/* Returns what the open needs. It breaks the write caching of others unless it is
 * attribute-only; an overwrite breaks all of their caching. MS-FSA 2.1.5.1.2.2, 2.1.5.1.2.1 */
static struct file_use use_of(const struct file_gate *gate, const struct gate_open *asked)
{
    uint8_t strips = asked->replaces ? CACHING_ALL : asked->meets ? CACHING_WRITE : 0;

    return (struct file_use){
        .access = asked->access | (asked->replaces ? ACCESS_WRITE : 0),
        .share = asked->share,
        .strips = strips,
        .waits_for = strips & CACHING_WRITE,
        .needs_writable = asked->replaces || (asked->access & ACCESS_WRITE),
        .is_open = true,
        .spares_leases = !asked->replaces && asked->meets == MEETS_OPLOCKS,
        .has_waited = gate->d->waits_until > 0,
    };
}

/* Adds an entry for the caching of an open. */
static uint16_t add_caching(struct file_gate *gate, const struct gate_open *asked)
{
    struct open_set *set = &gate->set;
    struct caching_entry *entries =
        arena_array(gate->d->arena, set->caching_count + 1, sizeof *entries);

    if (set->caching_count > 0)
        memcpy(entries, set->cachings, set->caching_count * sizeof *entries);
    set->cachings = entries;
    entries[set->caching_count] = (struct caching_entry){
        .key = asked->caching_key,
        .caching.is_oplock = asked->is_oplock,
        .epoch = asked->epoch,
    };
    return (uint16_t)set->caching_count++;
}

struct caching_given gate_given(const struct file_gate *gate, uint16_t number)
{
    const struct caching_entry *entry;

    if (number == NO_CACHING)
        return (struct caching_given){ .holds = 0 };
    entry = &gate->set.cachings[number];
    return (struct caching_given){
        .holds = entry->caching.holds,
        .epoch = entry->epoch,
        .breaks = caching_is_breaking(entry),
        .at = gate->d->now,
    };
}

/* Grants caching to the new open and returns the number of its entry. */
static uint16_t grant(struct file_gate *gate, const struct gate_open *asked, uint16_t own,
                      struct caching_given *ret_given)
{
    uint8_t has = gate_grant(gate, asked->caching, asked->is_oplock, own);
    struct caching_entry *entry;

    *ret_given = (struct caching_given){ .epoch = asked->epoch };
    if (own == NO_CACHING &&
        ((has == 0 && !asked->is_lease) || gate->set.caching_count == CACHINGS_MAX))
        return NO_CACHING;
    if (own == NO_CACHING)
        own = add_caching(gate, asked);
    entry = &gate->set.cachings[own];
    if (entry->caching.holds != has) {
        caching_settle(entry, has);
        entry->epoch++;
    }
    *ret_given = gate_given(gate, own);
    return own;
}

/* Returns the id of a new handle: d->now, which no earlier commit of this partition has, or the
 * last id + 1 if that is higher. */
static uint64_t new_id(const struct file_gate *gate)
{
    const struct open_set *set = &gate->set;
    uint64_t last = set->open_count > 0 ? set->opens[set->open_count - 1].id : 0;

    return gate->d->now > last ? gate->d->now : last + 1;
}

/* Appends an open. Entries are ordered by id. */
static void add_open(struct file_gate *gate, const struct open_entry *open)
{
    struct open_set *set = &gate->set;
    struct open_entry *opens = arena_array(gate->d->arena, set->open_count + 1, sizeof *opens);

    assert(set->open_count == 0 || set->opens[set->open_count - 1].id < open->id);
    if (set->open_count > 0)
        memcpy(opens, set->opens, set->open_count * sizeof *opens);
    opens[set->open_count++] = *open;
    set->opens = opens;
    gate->is_changed = true;
}

enum error gate_open(struct file_gate *gate, const struct gate_open *asked,
                     struct handle *ret_handle, struct caching_given *ret_given)
{
    uint16_t own = find_caching(gate, &asked->caching_key);
    struct file_use use = use_of(gate, asked);
    struct open_entry open = { .id = new_id(gate),
                               .epoch = open_epoch(),
                               .persists = asked->persists,
                               .deletes = asked->deletes,
                               .kept_ticks = asked->persists ? asked->kept->ticks : 0 };
    enum error e;

    assert(asked->access <= ACCESS_ALL && asked->share <= ACCESS_ALL);
    assert(asked->caching <= CACHING_ALL && asked->meets <= MEETS_ALL);
    if (gate->set.open_count == OPENS_MAX)
        return decision_fail(gate->d, E_ServerBusy,
                             "The file has %u open handles, the most there "
                             "may be.",
                             OPENS_MAX);
    e = gate_judge(gate, &use, own);
    if (e)
        return e;
    open.open =
        (struct file_open){ .access = asked->access, .share = asked->share, .meets = asked->meets };
    open.open.caching = grant(gate, asked, own, ret_given);
    add_open(gate, &open);
    *ret_handle = (struct handle){ .node = gate->node,
                                   .id = open.id,
                                   .epoch = open.epoch,
                                   .persists = open.persists,
                                   .access = asked->access,
                                   .session = asked->session,
                                   .client_address = asked->client_address,
                                   .client_name = asked->client_name,
                                   .opened = gate->d->now };
    if (asked->persists)
        ret_handle->kept = *asked->kept;
    gate_write(gate);
    handle_put(gate->part->changes, gate->d->arena, ret_handle);
    return OK;
}

/* ---- close ---- */

static void set_pending(struct file_gate *gate, bool is_pending)
{
    if (gate->set.is_delete_pending == is_pending)
        return;
    gate->set.is_delete_pending = is_pending;
    gate->is_changed = true;
}

/* Updates the index of pending deletes from the set. */
static void index_pending(struct file_gate *gate)
{
    if (gate->set.is_delete_pending)
        pending_put(gate->part->changes, gate->node);
    else
        pending_delete(gate->part->changes, gate->node);
}

enum error gate_close(struct file_gate *gate, uint64_t handle, bool by_force, bool *ret_deletes)
{
    struct open_entry *open = open_set_find(&gate->set, handle);
    bool was_pending = gate->set.is_delete_pending;
    struct open_entry closed;
    enum error e;
    size_t index;

    *ret_deletes = false;
    if (!open)
        return E_ResourceNotFound;
    closed = *open;
    index = (size_t)(open - gate->set.opens);
    gate->set.open_count--;
    memmove(open, open + 1, (gate->set.open_count - index) * sizeof *open);
    e = gate_drop_locks(gate);
    if (e)
        return e;
    if (closed.deletes && !by_force)
        set_pending(gate, true);
    gate->is_changed = true;
    gate_wakes(gate);
    *ret_deletes = gate->set.open_count == 0 && gate->set.is_delete_pending;
    if (gate->set.open_count == 0)
        set_pending(gate, false);
    gate_write(gate);
    handle_delete(gate->part->changes, gate->node, &closed);
    if (gate->set.is_delete_pending != was_pending)
        index_pending(gate);
    return OK;
}

void gate_close_all(struct file_gate *gate, bool *ret_deletes)
{
    struct open_set *set = &gate->set;
    const struct open_entry *closed = set->opens;
    size_t count = set->open_count;
    bool was_pending = set->is_delete_pending;

    *ret_deletes = count > 0 && was_pending;
    if (count == 0)
        return;
    set->open_count = 0;
    set_pending(gate, false);
    gate->is_changed = true; /* gate_write() drops the locks, which have no owner left */
    gate_wakes(gate);
    gate_write(gate);
    for (size_t i = 0; i < count; i++)
        handle_delete(gate->part->changes, gate->node, &closed[i]);
    if (was_pending)
        index_pending(gate);
}

enum error gate_set_delete_pending(struct file_gate *gate, uint64_t handle, bool is_pending)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);
    enum error e = OK;

    if (!open)
        return E_ResourceNotFound;
    if (!(open->open.access & ACCESS_DELETE))
        return E_SharingViolation;
    if (is_pending && gate->is_read_only)
        return E_ReadOnlyAttribute;
    if (gate->set.is_delete_pending == is_pending)
        return OK;
    if (is_pending)
        e = gate_take_handles(gate, handle);
    if (e)
        return e;
    set_pending(gate, is_pending);
    gate_wakes(gate);
    gate_write(gate);
    index_pending(gate);
    return OK;
}

/* ---- caching ---- */

/* Returns the target of the next break: handle and write caching go first, read caching in a
 * further break, as in Windows (smbtorture, smb2.lease.breaking3). */
static uint8_t next_step(const struct caching_entry *entry)
{
    uint8_t to = entry->caching.breaks_to;

    return entry->caching.holds == CACHING_READ ? to : to | (entry->caching.holds & CACHING_READ);
}

enum error gate_acknowledge(struct file_gate *gate, const struct gate_answer *answer)
{
    uint16_t number = find_caching(gate, &answer->key);
    struct caching_entry *entry;
    uint8_t keeps = answer->keeps;

    if (number == NO_CACHING)
        return E_ResourceNotFound;
    entry = &gate->set.cachings[number];
    if (!caching_is_breaking(entry) || (answer->is_overdue && answer->epoch != entry->epoch))
        return E_ResourceNotFound;
    if (entry->caching.is_oplock)
        keeps &= entry->reported;
    if (keeps & ~entry->reported)
        return E_InvalidInput;
    entry->caching.holds = entry->reported = keeps;
    entry->caching.breaks_to &= keeps;
    if (entry->caching.breaks_to != keeps)
        gate_tell(gate, entry, next_step(entry));
    gate->is_changed = true;
    gate_wakes(gate);
    gate_write(gate);
    return OK;
}
