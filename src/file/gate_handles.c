/* Operations of SMB: opens, and all that is done by a handle. */
#include <assert.h>

#include "file/gate_private.h"

/* NO_CACHING: no entry has that key. */
static uint16_t find_caching(const struct file_gate *gate, const struct guid *key)
{
    for (size_t i = 0; i < gate->set.caching_count; i++)
        if (guid_equal(&gate->set.cachings[i].key, key))
            return (uint16_t)i;
    return NO_CACHING;
}

/* ---- open ---- */

/* An open breaks the write caching of others; one that replaces the file breaks all of their caching.
 * MS-FSA 2.1.5.1.2.2, 2.1.5.1.2.1 */
static struct file_use use_of(const struct gate_open *asked)
{
    return (struct file_use){
        .access = asked->access | (asked->replaces ? ACCESS_WRITE : 0),
        .share = asked->share,
        .strips = asked->replaces ? CACHING_ALL
                  : asked->access ? CACHING_WRITE
                                  : 0,
        .waits_for = asked->replaces || asked->access ? CACHING_WRITE : 0,
        .needs_writable = asked->replaces || (asked->access & ACCESS_WRITE),
        .is_open = true,
    };
}

/* Of the caching that is asked for, what may be had beside the other opens: to keep writes back, one must
 * be alone. Nothing without READ, nor beside byte-range locks, which say what may be read. `own`: the other
 * opens of the same client. */
static uint8_t grantable(const struct file_gate *gate, uint8_t wanted, uint16_t own)
{
    if (!(wanted & CACHING_READ) || gate->set.lock_count > 0)
        return 0;
    for (size_t i = 0; i < gate->set.open_count; i++) {
        const struct file_open *open = &gate->set.opens[i].open;

        if (open->access != 0 && (own == NO_CACHING || open->caching != own))
            wanted &= (uint8_t)~CACHING_WRITE;
    }
    return wanted;
}

/* The caching entry of the new open. A break that is not yet answered stays. */
static uint16_t grant(struct file_gate *gate, const struct gate_open *asked, uint16_t own,
                      uint8_t *ret_caching)
{
    struct open_set *set = &gate->set;
    uint8_t more = grantable(gate, asked->caching, own);
    struct caching_entry *entry;

    if (asked->is_oplock && !(more & CACHING_WRITE))
        more &= CACHING_READ;
    *ret_caching = 0;
    if (own == NO_CACHING && (more == 0 || set->caching_count == CACHINGS_MAX))
        return NO_CACHING;
    if (own == NO_CACHING) {
        entry = arena_array(gate->d->arena, set->caching_count + 1, sizeof *entry);
        if (set->caching_count > 0)
            memcpy(entry, set->cachings, set->caching_count * sizeof *entry);
        set->cachings = entry;
        own = (uint16_t)set->caching_count++;
        set->cachings[own] = (struct caching_entry){ .key = asked->caching_key };
    }
    entry = &set->cachings[own];
    if (entry->caching.holds == entry->caching.breaks_to && !(entry->caching.holds & ~more))
        entry->caching.holds = entry->caching.breaks_to = more;
    *ret_caching = entry->caching.holds;
    return own;
}

/* The id of a new handle: d->now. No earlier commit of this partition has that instant, so no other handle has
 * the id. It is above all ids in the record in any case. */
static uint64_t new_id(const struct file_gate *gate)
{
    const struct open_set *set = &gate->set;
    uint64_t last = set->open_count > 0 ? set->opens[set->open_count - 1].id : 0;

    return gate->d->now > last ? gate->d->now : last + 1;
}

/* Appends: entries are in the order of ids. */
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
                     struct handle *ret_handle, uint8_t *ret_caching)
{
    uint16_t own = find_caching(gate, &asked->caching_key);
    struct file_use use = use_of(asked);
    struct open_entry open = { .id = new_id(gate),
                               .epoch = open_epoch(),
                               .persists = asked->persists,
                               .deletes = asked->deletes,
                               .kept_ticks = asked->persists ? asked->kept->ticks : 0 };
    enum error e;

    assert(asked->access <= ACCESS_ALL && asked->share <= ACCESS_ALL);
    assert(asked->caching <= CACHING_ALL);
    if (gate->set.open_count == OPENS_MAX)
        return decision_fail(gate->d, E_ServerBusy,
                             "The file has %u open handles, the most there "
                             "may be.",
                             OPENS_MAX);
    e = gate_judge(gate, &use, own);
    if (e)
        return e;
    open.open = (struct file_open){ .access = asked->access, .share = asked->share };
    open.open.caching = grant(gate, asked, own, ret_caching);
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
    struct open_entry *open = gate_find_open(gate, handle);
    bool was_pending = gate->set.is_delete_pending;
    bool is_kept;
    enum error e;
    size_t index;

    *ret_deletes = false;
    if (!open)
        return E_ResourceNotFound;
    e = gate_drop_locks(gate, handle);
    if (e)
        return e;
    if (open->deletes && !by_force)
        set_pending(gate, true);
    is_kept = open->persists || open->away_until > 0;
    index = (size_t)(open - gate->set.opens);
    gate->set.open_count--;
    memmove(open, open + 1, (gate->set.open_count - index) * sizeof *open);
    gate->is_changed = true;
    gate->d->wakes = true;
    *ret_deletes = gate->set.open_count == 0 && gate->set.is_delete_pending;
    if (gate->set.open_count == 0)
        set_pending(gate, false);
    gate_write(gate);
    handle_delete(gate->part->changes, gate->node, handle, is_kept);
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
    gate->is_changed = true; /* gate_write() drops the locks, which have no owner any more */
    gate->d->wakes = true;
    gate_write(gate);
    for (size_t i = 0; i < count; i++)
        handle_delete(gate->part->changes, gate->node, closed[i].id,
                      closed[i].persists || closed[i].away_until > 0);
    if (was_pending)
        index_pending(gate);
}

enum error gate_set_delete_pending(struct file_gate *gate, uint64_t handle, bool is_pending)
{
    const struct open_entry *open = gate_find_open(gate, handle);

    if (!open)
        return E_ResourceNotFound;
    if (!(open->open.access & ACCESS_DELETE))
        return E_SharingViolation;
    if (is_pending && gate->is_read_only)
        return E_ReadOnlyAttribute;
    if (gate->set.is_delete_pending == is_pending)
        return OK;
    set_pending(gate, is_pending);
    gate->d->wakes = true;
    gate_write(gate);
    index_pending(gate);
    return OK;
}

/* ---- caching ---- */

enum error gate_acknowledge(struct file_gate *gate, const struct guid *key, uint8_t told,
                            uint8_t keeps, uint8_t *ret_breaks_to)
{
    uint16_t number = find_caching(gate, key);
    struct file_caching *caching;

    if (number == NO_CACHING)
        return E_ResourceNotFound;
    caching = &gate->set.cachings[number].caching;
    if (caching->holds == caching->breaks_to)
        return E_ResourceNotFound;
    if (keeps & ~(told & caching->holds))
        return E_InvalidInput;
    caching->holds = keeps;
    caching->breaks_to &= keeps;
    *ret_breaks_to = caching->breaks_to;
    gate->is_changed = true;
    gate->d->wakes = true;
    gate_write(gate);
    return OK;
}

bool gate_caching(const struct file_gate *gate, const struct guid *key,
                  struct file_caching *ret_caching)
{
    uint16_t number = find_caching(gate, key);

    if (number != NO_CACHING)
        *ret_caching = gate->set.cachings[number].caching;
    return number != NO_CACHING;
}
