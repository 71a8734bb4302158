/* Opens whose clients are away, in the way of others: concurrency/README.md rule 22 */
#include "file/gate_private.h"

/* Nobody is there for it, and it need not be kept. */
static bool may_be_ended(const struct file_gate *gate, const struct open_entry *open)
{
    return open->away_until > 0 && (!open->persists || open->away_until <= gate->d->now);
}

static bool is_broken(const struct file_gate *gate, const struct open_entry *open,
                      const struct caching_break *breaks, size_t count)
{
    for (size_t i = 0; open->open.caching != NO_CACHING && i < count; i++)
        if (breaks[i].caching == open->open.caching)
            return gate->set.cachings[breaks[i].caching].caching.holds != CACHING_READ;
    return false;
}

/* The caching of one that was ended is nobody's any more, unless another open has it. */
static void drop_caching(struct open_set *set, uint16_t caching)
{
    for (size_t i = 0; i < set->open_count; i++)
        if (set->opens[i].open.caching == caching)
            return;
    if (caching == NO_CACHING)
        return;
    caching_settle(&set->cachings[caching], 0);
}

/* Its index entries go when the gate is written. */
static enum error end_open(struct file_gate *gate, size_t index)
{
    struct open_set *set = &gate->set;
    uint16_t caching = set->opens[index].open.caching;
    struct open_entry *left = arena_array(gate->d->arena, set->left_count + 1, sizeof *left);
    enum error e = gate_drop_locks(gate, set->opens[index].id);

    if (e)
        return e;
    if (set->left_count > 0)
        memcpy(left, set->left, set->left_count * sizeof *left);
    left[set->left_count++] = set->opens[index];
    set->left = left;
    set->open_count--;
    memmove(&set->opens[index], &set->opens[index + 1],
            (set->open_count - index) * sizeof set->opens[0]);
    drop_caching(set, caching);
    if (gate->has_locks)
        set->lock_count = gate->lock_count;
    gate->is_changed = true;
    gate->d->wakes = true;
    return OK;
}

/* Whether all who have that caching are away; there is one. */
static bool has_nobody(const struct file_gate *gate, uint16_t caching)
{
    bool has_one = false;

    for (size_t i = 0; i < gate->set.open_count; i++)
        if (gate->set.opens[i].open.caching == caching) {
            if (gate->set.opens[i].away_until == 0)
                return false;
            has_one = true;
        }
    return has_one;
}

/* Those that persist stay, without what is asked for. */
static bool lose(struct file_gate *gate, const struct caching_break *broken)
{
    struct caching_entry *entry = &gate->set.cachings[broken->caching];

    if (!has_nobody(gate, broken->caching))
        return false;
    caching_settle(entry, broken->to);
    entry->epoch++;
    gate->is_changed = true;
    gate->d->wakes = true;
    return true;
}

enum error gate_settle_away(struct file_gate *gate, const struct file_use *use,
                            const struct opens_verdict *verdict, const struct caching_break *breaks,
                            bool *ret_again)
{
    bool shares = verdict->error != E_SharingViolation || (gate->is_leased && use->is_open);
    enum error e = OK;

    *ret_again = false;
    if (verdict->error && shares)
        return OK;
    for (size_t i = gate->set.open_count; i-- > 0 && !e;) {
        const struct open_entry *open = &gate->set.opens[i];

        if (!may_be_ended(gate, open) ||
            (opens_bear(&open->open, use) && !is_broken(gate, open, breaks, verdict->break_count)))
            continue;
        e = end_open(gate, i);
        *ret_again = true;
    }
    for (size_t i = 0; i < verdict->break_count && !e; i++)
        if (lose(gate, &breaks[i]))
            *ret_again = true;
    return e;
}
