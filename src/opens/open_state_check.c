/* Checks operations by the rules, and passes operations without a handle. For those with a
 * handle see open_state_handles.c. */
#include "opens/break_notification.h"
#include "opens/open_state_private.h"

/* Starts to wait, or continues until the timeout. */
static enum error wait(struct file_gate *gate, const struct file_use *use)
{
    struct decision *d = gate->d;
    uint32_t seconds = use->is_open ? GATE_OPEN_WAIT_MAX_S : GATE_WAIT_MAX_S;

    if (d->waits_until > 0 && d->now >= d->waits_until)
        return E_ClientCacheFlushDelay;
    if (d->input && d->input->timeout_s > 0 && d->input->timeout_s < seconds)
        seconds = d->input->timeout_s;
    if (d->waits_until == 0)
        d->waits_until = d->now + seconds * TICKS_PER_SECOND;
    d->waits_for = gate_key(gate);
    gate_write(gate);
    return DECIDE_WAITS;
}

void gate_tell(struct file_gate *gate, struct caching_entry *holder, uint8_t to)
{
    const struct break_news news = { .space = gate->part->partition.space,
                                     .node = gate->node,
                                     .key = holder->key,
                                     .holds = holder->caching.holds,
                                     .to = to,
                                     .epoch = holder->epoch,
                                     .at = gate->d->now };

    holder->reported = to;
    if (holder->caching.holds == CACHING_READ)
        holder->caching.holds = to;
    gate->is_changed = true;
    break_news_add(gate->d, &news);
}

/* Starts a break of the holder's caching to `to`. If a break is in progress, the new one is sent
 * after its acknowledgment. */
static void ask(struct file_gate *gate, struct caching_entry *holder, uint8_t to)
{
    bool is_breaking = caching_is_breaking(holder);

    holder->caching.breaks_to = to;
    gate->is_changed = true;
    if (is_breaking)
        return;
    holder->epoch++;
    gate_tell(gate, holder, to);
}

/* Returns the opens in the form the rules use. */
static struct file_opens opens_of(const struct file_gate *gate)
{
    struct arena *arena = gate->d->arena;
    const struct open_set *set = &gate->set;
    struct file_open *opens = arena_array(arena, set->open_count, sizeof *opens);
    struct file_caching *cachings = arena_array(arena, set->caching_count, sizeof *cachings);

    for (size_t i = 0; i < set->open_count; i++)
        opens[i] = set->opens[i].open;
    for (size_t i = 0; i < set->caching_count; i++)
        cachings[i] = set->cachings[i].caching;
    return (struct file_opens){
        .opens = opens,
        .open_count = set->open_count,
        .cachings = cachings,
        .caching_count = set->caching_count,
        .is_delete_pending = set->is_delete_pending,
        .is_read_only = gate->is_read_only,
        .is_leased = gate->is_leased,
        .has_locks = set->lock_count > 0,
    };
}

uint8_t gate_grant(const struct file_gate *gate, uint8_t wants, bool is_oplock, uint16_t own)
{
    const struct file_opens opens = opens_of(gate);

    return opens_grant(&opens, wants, is_oplock, own);
}

/* Returns true if the caller commits changes of the gate. */
static bool writes_gate(const struct file_gate *gate)
{
    return !gate->d->operation || decision_may_change(gate->d);
}

enum error gate_judge(struct file_gate *gate, const struct file_use *use, uint16_t own)
{
    struct open_set *set = &gate->set;
    struct caching_break *breaks = arena_array(gate->d->arena, set->caching_count, sizeof *breaks);
    struct opens_verdict verdict;
    bool again = true, has_settled = false;

    while (again) {
        const struct file_opens opens = opens_of(gate);
        enum error e;

        verdict = opens_judge(&opens, use, own, breaks);
        e = gate_settle_away(gate, use, &verdict, breaks, &again);
        if (e)
            return e;
        has_settled |= again;
    }
    for (size_t i = 0; i < verdict.break_count; i++)
        ask(gate, &set->cachings[breaks[i].caching], breaks[i].to);
    if (verdict.error)
        return verdict.error;
    /* A read-only operation has the changes committed like a break, and is then decided again. */
    return verdict.waits || (has_settled && !writes_gate(gate)) ? wait(gate, use) : OK;
}

enum error gate_pass(struct file_gate *gate, enum rest_use use)
{
    return gate_judge(gate, rest_use(use), NO_CACHING);
}

enum error gate_pass_read(struct file_gate *gate, uint64_t offset, uint64_t length)
{
    const struct byte_range range = { offset, length };
    enum error e = gate_read_locks(gate);

    for (size_t i = 0; !e && i < gate->lock_count; i++)
        if (byte_lock_bars_read(&gate->locks[i], NO_OWNER, &range))
            e = E_FileLockConflict;
    return e;
}

enum error gate_pass_write(struct file_gate *gate)
{
    enum error e = gate_read_locks(gate);

    return !e && gate->lock_count > 0 ? E_FileLockConflict : e;
}
