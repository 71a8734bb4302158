/* Checks operations against the rules of concurrency/opens.h. Operations on handles are in
 * open_state_handles.c. */
#include "opens/break_notification.h"
#include "opens/open_state_private.h"

/* Starts or continues waiting; fails after the timeout. */
static enum error wait(struct open_state *opens, const struct file_use *use)
{
    struct decision *d = opens->d;
    uint32_t seconds = use->is_open ? OPEN_WAIT_MAX_S : REST_WAIT_MAX_S;

    if (d->waits_until > 0 && d->now >= d->waits_until)
        return E_ClientCacheFlushDelay;
    if (d->input && d->input->timeout_s > 0 && d->input->timeout_s < seconds)
        seconds = d->input->timeout_s;
    if (d->waits_until == 0)
        d->waits_until = d->now + seconds * TICKS_PER_SECOND;
    d->waits_for = open_state_waiting_key(opens);
    open_state_write(opens);
    return DECIDE_WAITS;
}

void open_state_notify_break(struct open_state *opens, struct caching_entry *holder, uint8_t to)
{
    const struct break_notification notification = { .space = opens->part->partition.space,
                                                     .node = opens->node,
                                                     .key = holder->key,
                                                     .holds = holder->caching.holds,
                                                     .to = to,
                                                     .epoch = holder->epoch,
                                                     .at = opens->d->now };

    holder->reported = to;
    if (holder->caching.holds == CACHING_READ)
        holder->caching.holds = to;
    opens->is_changed = true;
    break_notification_add(opens->d, &notification);
}

/* Breaks the holder's caching to `to`. If another break is in progress, the new one is sent after
 * its acknowledgment. */
static void start_break(struct open_state *opens, struct caching_entry *holder, uint8_t to)
{
    bool is_breaking = caching_is_breaking(holder);

    holder->caching.breaks_to = to;
    opens->is_changed = true;
    if (is_breaking)
        return;
    holder->epoch++;
    open_state_notify_break(opens, holder, to);
}

/* Converts the opens to the form that the rules use. */
static struct file_opens opens_of(const struct open_state *opens)
{
    struct arena *arena = opens->d->arena;
    const struct open_set *set = &opens->set;
    struct file_open *entries = arena_array(arena, set->open_count, sizeof *entries);
    struct file_caching *cachings = arena_array(arena, set->caching_count, sizeof *cachings);

    for (size_t i = 0; i < set->open_count; i++)
        entries[i] = set->opens[i].open;
    for (size_t i = 0; i < set->caching_count; i++)
        cachings[i] = set->cachings[i].caching;
    return (struct file_opens){
        .opens = entries,
        .open_count = set->open_count,
        .cachings = cachings,
        .caching_count = set->caching_count,
        .is_delete_pending = set->is_delete_pending,
        .is_read_only = opens->is_read_only,
        .is_leased = opens->is_leased,
        .has_locks = set->lock_count > 0,
    };
}

uint8_t open_state_grant(const struct open_state *opens, uint8_t wants, bool is_oplock,
                         uint16_t own)
{
    const struct file_opens all = opens_of(opens);

    return opens_grant(&all, wants, is_oplock, own);
}

/* Returns true if the caller commits changes of the open state. */
static bool may_commit_changes(const struct open_state *opens)
{
    return !opens->d->operation || decision_may_change(opens->d);
}

enum error open_state_check(struct open_state *opens, const struct file_use *use, uint16_t own)
{
    struct open_set *set = &opens->set;
    struct caching_break *breaks = arena_array(opens->d->arena, set->caching_count, sizeof *breaks);
    struct opens_check_result result;
    bool again = true, has_settled = false;

    while (again) {
        const struct file_opens all = opens_of(opens);
        enum error e;

        result = opens_check(&all, use, own, breaks);
        e = open_state_resolve_conflicts(opens, use, &result, breaks, &again);
        if (e)
            return e;
        has_settled |= again;
    }
    for (size_t i = 0; i < result.break_count; i++)
        start_break(opens, &set->cachings[breaks[i].caching], breaks[i].to);
    if (result.error)
        return result.error;
    /* A read-only operation cannot commit changes itself. DECIDE_WAITS commits them, like breaks,
     * and then decides again. */
    return result.waits || (has_settled && !may_commit_changes(opens)) ? wait(opens, use) : OK;
}

enum error open_state_check_rest(struct open_state *opens, enum rest_use use)
{
    return open_state_check(opens, rest_use(use), NO_CACHING);
}

enum error open_state_check_read(struct open_state *opens, uint64_t offset, uint64_t length)
{
    const struct byte_range range = { offset, length };
    enum error e = open_state_read_locks(opens);

    for (size_t i = 0; !e && i < opens->lock_count; i++)
        if (byte_lock_bars_read(&opens->locks[i], NO_OWNER, &range))
            e = E_FileLockConflict;
    return e;
}

enum error open_state_check_write(struct open_state *opens)
{
    enum error e = open_state_read_locks(opens);

    return !e && opens->lock_count > 0 ? E_FileLockConflict : e;
}
