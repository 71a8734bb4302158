/* Resolves conflicts of operations with disconnected opens: concurrency/README.md rule 22 */
#include "opens/open_state_private.h"

/* Returns true if the open is disconnected and may be closed because of a conflict. */
static bool may_be_closed(const struct open_state *opens, const struct open_entry *open)
{
    return open->disconnected_until > 0 &&
           (!open->persists || open->disconnected_until <= opens->d->now);
}

/* Returns, for each caching entry, true if it loses more than read caching by the breaks. */
static bool *loses_more_than_reading(const struct open_state *opens,
                                     const struct caching_break *breaks, size_t count)
{
    bool *loses = arena_array(opens->d->arena, opens->set.caching_count, sizeof *loses);

    for (size_t i = 0; i < count; i++)
        loses[breaks[i].caching] =
            opens->set.cachings[breaks[i].caching].caching.holds != CACHING_READ;
    return loses;
}

/* Clears the caching of entries whose opens have all been closed. */
static void drop_cachings_without_open(struct open_state *opens)
{
    struct open_set *set = &opens->set;
    bool *has_open = arena_array(opens->d->arena, set->caching_count, sizeof *has_open);

    for (size_t i = 0; i < set->open_count; i++)
        if (set->opens[i].open.caching != NO_CACHING)
            has_open[set->opens[i].open.caching] = true;
    for (size_t i = 0; i < set->caching_count; i++)
        if (!has_open[i])
            caching_settle(&set->cachings[i], 0);
}

/* Closes the disconnected opens that conflict with the operation. Sets *ret_ended if there are any.
 * Their index entries are deleted when the open state is written. Returns OK, or an error of
 * decision_fail_store(). */
static enum error close_opens(struct open_state *opens, const struct file_use *use,
                              const struct caching_break *breaks, size_t break_count,
                              bool *ret_ended)
{
    const bool *loses = loses_more_than_reading(opens, breaks, break_count);
    struct open_set *set = &opens->set;
    size_t kept = 0, count = set->open_count;

    for (size_t i = 0; i < count; i++) {
        const struct open_entry open = set->opens[i];
        bool is_broken = open.open.caching != NO_CACHING && loses[open.open.caching];

        if (may_be_closed(opens, &open) && (!opens_are_compatible(&open.open, use) || is_broken))
            set->stale[set->stale_count++] = open;
        else
            set->opens[kept++] = open;
    }
    *ret_ended = kept < count;
    if (!*ret_ended)
        return OK;
    set->open_count = kept;
    drop_cachings_without_open(opens);
    opens->is_changed = true;
    open_state_wakes(opens);
    return open_state_drop_locks(opens);
}

enum holders { HELD_BY_NOBODY, HELD_BY_DISCONNECTED, HELD_BY_CLIENTS };

/* Returns, for each caching entry, which kinds of opens hold it. */
static enum holders *find_holders(const struct open_state *opens)
{
    enum holders *holders = arena_array(opens->d->arena, opens->set.caching_count, sizeof *holders);

    for (size_t i = 0; i < opens->set.open_count; i++) {
        const struct open_entry *open = &opens->set.opens[i];

        if (open->open.caching == NO_CACHING)
            continue;
        if (open->disconnected_until == 0)
            holders[open->open.caching] = HELD_BY_CLIENTS;
        else if (holders[open->open.caching] == HELD_BY_NOBODY)
            holders[open->open.caching] = HELD_BY_DISCONNECTED;
    }
    return holders;
}

/* Applies the break to disconnected persistent opens, which stay open. */
static void apply_break(struct open_state *opens, const struct caching_break *broken)
{
    struct caching_entry *entry = &opens->set.cachings[broken->caching];

    caching_settle(entry, broken->to);
    entry->epoch++;
    opens->is_changed = true;
    open_state_wakes(opens);
}

enum error open_state_resolve_conflicts(struct open_state *opens, const struct file_use *use,
                                        const struct opens_check_result *result,
                                        const struct caching_break *breaks, bool *ret_again)
{
    const enum holders *holders;
    bool shares = result->error != E_SharingViolation || (opens->is_leased && use->is_open);
    enum error e;

    *ret_again = false;
    if (result->error && shares)
        return OK;
    e = close_opens(opens, use, breaks, result->break_count, ret_again);
    if (e || result->break_count == 0)
        return e;
    holders = find_holders(opens);
    for (size_t i = 0; i < result->break_count; i++)
        if (holders[breaks[i].caching] == HELD_BY_DISCONNECTED) {
            apply_break(opens, &breaks[i]);
            *ret_again = true;
        }
    return OK;
}
