#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/rados/row_key.h"
#include "store/rados/shard_private.h"

/* So many commits to partitions that are in the group already are passed over to find others. */
#define PASSED_MAX 256u

static void pause_over(struct waiter *waiter);

struct shard *shard_new_unread(struct port *port, const char *name, bool may_create)
{
    struct shard *shard = xcalloc(1, sizeof *shard);

    shard->port = port;
    shard->name = xstrdup(name);
    shard->may_create = may_create;
    shard->end = &shard->waiting;
    shard->pause.wake = pause_over;
    lock_init(&shard->lock, RANK_SYNCER);
    return shard;
}

enum store_result shard_new(struct port *port, const char *name, struct bytes row,
                            struct shard **ret_shard)
{
    struct shard *shard = shard_new_unread(port, name, false);
    enum store_result result = shard_set_bounds(shard, row);

    if (result)
        shard_free(shard);
    else
        *ret_shard = shard;
    return result;
}

void shard_set_watch(struct shard *shard, struct shard_watch *watch)
{
    shard->watch = watch;
}

void shard_free(struct shard *shard)
{
    bool is_pausing;

    lock_take(&shard->lock);
    assert(!shard->is_busy && !shard->waiting);
    is_pausing = shard->is_freed = shard->is_pausing;
    lock_give(&shard->lock);
    if (is_pausing) /* by the end of that */
        return;
    shard_counters_free(shard);
    lock_release(&shard->lock);
    xcopy_free(shard->row);
    free(shard->name);
    free(shard);
}

void shard_create(struct port *port, const char *name, const struct shard_bounds *bounds,
                  void (*done)(struct port_op *op), void *context)
{
    struct port_op *op = port_op_new(done, context);

    port_create(op, true);
    port_set(op, row_key_bounds(), shard_bounds_write(op->arena, bounds));
    port_send(port, name, op);
}

/* ---- the op of a group ---- */

static size_t commit_bytes(const struct shard_commit *commit)
{
    size_t bytes = commit->partition_key.len;

    for (const struct shard_change *c = commit->changes; c; c = c->next)
        bytes += c->key.len + c->value.len;
    for (const struct shard_task *t = commit->tasks; t; t = t->next)
        bytes += t->value.len;
    return bytes;
}

static bool share_a_check(const struct shard_commit *a, const struct shard_commit *b)
{
    for (const struct shard_check *x = a->checks; x; x = x->next)
        for (const struct shard_check *y = b->checks; y; y = y->next)
            if (bytes_equal(x->key, y->key))
                return true;
    return false;
}

/* Must the commit go after those in the group? Or is it the next one of a chain in it? */
static bool is_behind(struct shard_commit *group, const struct shard_commit *commit,
                      struct shard_commit **ret_chain)
{
    *ret_chain = NULL;
    for (; group; group = group->next) {
        bool is_same = bytes_equal(group->partition_key, commit->partition_key);

        if (is_same && commit->rests_on && group->last->link == commit->rests_on &&
            !group->was_sent_before && !commit->was_sent_before) {
            *ret_chain = group;
            return false;
        }
        if (is_same || share_a_check(group, commit))
            return true;
    }
    /* What it rests on is on its way here, or behind in the list, or in another shard. */
    return commit->rests_on && shard_link_result(commit->rests_on) == STORE_WAIT;
}

static void add_to_chain(struct shard_commit *first, struct shard_commit *commit)
{
    const struct partition_header before = shard_header_after(first);

    assert(partition_header_equal(&before, &commit->seen));
    assert(!commit->checks && !commit->tasks && !commit->after && !commit->has_no_header &&
           !commit->has_pieces);
    first->last->behind = commit;
    first->last = commit;
}

/* Moves commits from those that wait into the group, which is empty. invariants (2), (9) */
static void fill_group(struct shard *shard)
{
    struct shard_commit **from = &shard->waiting, **to = &shard->group;
    size_t bytes = 0;
    unsigned count = 0, passed = 0;

    lock_assert_held(&shard->lock);
    assert(!shard->group);
    while (*from && count < SHARD_GROUP_COMMITS && passed < PASSED_MAX) {
        struct shard_commit *commit = *from, *chain;
        size_t more = commit_bytes(commit);

        if (count > 0 && bytes + more > SHARD_GROUP_BYTES)
            break;
        if (is_behind(shard->group, commit, &chain)) {
            from = &commit->next;
            passed++;
            continue;
        }
        *from = commit->next;
        if (shard->end == &commit->next)
            shard->end = from;
        commit->next = NULL;
        if (chain) {
            add_to_chain(chain, commit);
        } else {
            *to = commit;
            to = &commit->next;
        }
        bytes += more;
        count++;
    }
    if (count == 0 && shard->waiting) { /* invariant (8): it is looked at, and returned */
        shard->group = shard->waiting;
        shard->waiting = shard->group->next;
        if (!shard->waiting)
            shard->end = &shard->waiting;
        shard->group->next = NULL;
    }
}

static void group_done(struct port_op *op);
static void look_done(struct port_op *op);

/* ---- going on ---- */

static bool all_hinted(struct shard *shard)
{
    for (struct shard_commit *c = shard->group; c; c = c->next)
        if (!shard_is_hinted(shard, c))
            return false;
    return true;
}

/* What is left of a group goes alone: with others it might be refused for their sake again and again. A
 * group that does not fit the bounds is looked at first: they may be old, and no waiter is woken in its own call. */
static void proceed(struct shard *shard)
{
    bool is_idle, looks_first;

    if (shard_holds_back(shard))
        return;
    lock_take(&shard->lock);
    if (!shard->group)
        fill_group(shard);
    is_idle = !shard->group;
    shard->is_busy = !is_idle;
    lock_give(&shard->lock);
    if (is_idle)
        return;
    shard->refusal = PORT_REFUSED;
    shard->sent_ms = clock_monotonic_ms();
    looks_first = shard->looks_first;
    shard->looks_first = false;
    if (!looks_first && shard_knows(shard) && all_hinted(shard))
        shard_send_group(shard, group_done);
    else
        shard_send_look(shard, look_done);
}

static void pause_over(struct waiter *waiter)
{
    struct shard *shard = (struct shard *)(void *)((char *)waiter - offsetof(struct shard, pause));
    bool is_freed;

    if (shard_pause_over(shard, &is_freed))
        proceed(shard);
    else if (is_freed)
        shard_free(shard);
}

/* Takes chains with a result out of the group, and returns their commits. */
static struct shard_commit *take_ended(struct shard *shard)
{
    struct shard_commit *ended = NULL, **last = &ended, **at = &shard->group;

    while (*at) {
        struct shard_commit *first = *at;

        if (first->result == STORE_WAIT) {
            at = &first->next;
            continue;
        }
        *at = first->next;
        for (struct shard_commit *c = first; c; c = c->behind) {
            c->next = NULL;
            *last = c;
            last = &c->next;
        }
    }
    return ended;
}

/* What it rests on has ended, and was not applied. */
static bool rests_on_nothing(const struct shard_commit *waiting)
{
    return waiting->rests_on && shard_link_result(waiting->rests_on) == STORE_CONFLICT;
}

static bool is_outdated(const struct shard_commit *ended, const struct shard_commit *waiting)
{
    for (; ended; ended = ended->next)
        if (ended->newest > waiting->seen.version && !waiting->has_no_header &&
            bytes_equal(ended->partition_key, waiting->partition_key))
            return true;
    return false;
}

/* STORE_WAIT, or it is to go on elsewhere: nothing is known yet. Those that rest on it learn it by its link. */
static void set_result(struct shard_commit *commit, enum store_result result)
{
    commit->result = result;
    if (commit->link && result != STORE_WAIT && !commit->is_elsewhere && !commit->is_early)
        shard_link_tell(commit->link, result == STORE_OK);
}

/* Takes those out that wait in vain, and adds them to those that have ended. invariant (5) */
static void take_outdated(struct shard *shard, struct shard_commit *ended)
{
    struct shard_commit *outdated = NULL, **last = &outdated;

    lock_take(&shard->lock);
    for (struct shard_commit **at = &shard->waiting; *at;) {
        struct shard_commit *commit = *at;

        if (commit->was_sent_before || /* that may have been its own doing */
            (!rests_on_nothing(commit) && !is_outdated(ended, commit))) {
            at = &commit->next;
            continue;
        }
        *at = commit->next;
        if (shard->end == &commit->next)
            shard->end = at;
        commit->next = NULL;
        set_result(commit, STORE_CONFLICT);
        *last = commit;
        last = &commit->next;
    }
    lock_give(&shard->lock);
    while (ended->next)
        ended = ended->next;
    ended->next = outdated;
}

/* Goes on, then wakes those that have ended: a waiter may free its commit, and use the shard. */
static void proceed_and_wake(struct shard *shard)
{
    struct shard_commit *ended = take_ended(shard);

    if (ended) {
        take_outdated(shard, ended);
        shard_answered(shard, ended);
    }
    proceed(shard);
    while (ended) {
        struct shard_commit *commit = ended;

        ended = commit->next;
        commit->waiter->wake(commit->waiter);
    }
}

/* All of a chain have one outcome. How new the partition is by then is noted where those that wait are compared
 * with it once. */
static void set_results(struct shard_commit *first, enum store_result result, uint64_t newest)
{
    for (struct shard_commit *c = first; c; c = c->behind) {
        c->newest = 0;
        set_result(c, result);
    }
    first->newest = newest;
}

static void end_all(struct shard *shard, enum store_result result)
{
    for (struct shard_commit *c = shard->group; c; c = c->next)
        set_results(c, result,
                    result == STORE_OK && !c->has_no_header ? shard_header_after(c).version : 0);
}

/* Rows that the op of the group has set. */
static void tell_watch(const struct shard *shard, const struct port_op *op)
{
    uint64_t rows = 0;

    for (const struct port_step *step = op->first; step; step = step->next)
        rows += step->verb == PORT_SET;
    shard->watch->wrote(shard->watch, shard->name, rows, op->bytes);
}

static void note_turn(struct shard *shard, enum port_result result)
{
    turn_after_op(&shard->turn, result == PORT_REFUSED, clock_monotonic_ms());
    for (const struct shard_commit *c = result == PORT_OK ? shard->group : NULL; c; c = c->next)
        turn_came_in(&shard->turn, c->partition_key);
}

static void group_done(struct port_op *op)
{
    struct shard *shard = op->context;
    enum port_result result = op->result;

    note_turn(shard, result);
    if (result == PORT_OK && shard->watch)
        tell_watch(shard, op);
    port_op_free(op);
    /* Each of these may be the second answer to an op whose first application succeeded. port.h (6) */
    if (result == PORT_REFUSED || result == PORT_FULL || result == PORT_TOO_LARGE) {
        shard->refusal = result;
        shard_send_look(shard, look_done);
        return;
    }
    if (result == PORT_OK)
        shard_counters_applied(shard);
    else
        log_line(LOG_ERROR, "shard %s: commit: %s", shard->name, port_result_text(result));
    end_all(shard, result == PORT_OK       ? STORE_OK
                   : result == PORT_ABSENT ? STORE_NOT_FOUND /* never made again under its name */
                                           : STORE_UNKNOWN);
    proceed_and_wake(shard);
}

/* ---- after a refusal ---- */

/* Made, or found to be there: in any case it is looked at again. */
static void create_done(struct port_op *op)
{
    struct shard *shard = op->context;
    enum port_result result = op->result;

    port_op_free(op);
    if (result == PORT_OK || result == PORT_EXISTS) {
        shard_send_look(shard, look_done);
        return;
    }
    log_line(LOG_ERROR, "shard %s: it cannot be made: %s", shard->name, port_result_text(result));
    end_all(shard, result == PORT_FULL ? STORE_FULL : STORE_IO);
    proceed_and_wake(shard);
}

static void take_outcomes(struct shard *shard)
{
    for (struct shard_commit *c = shard->group; c; c = c->next) {
        enum store_result result = shard_outcome(shard, c);

        c->minute = 0;
        if (result == STORE_WAIT && !shard_is_hinted(shard, c))
            result = STORE_BUSY;
        set_results(c, result, c->newest);
    }
}

/* Does what it rests on wait here by now? */
static bool is_awaited_here(struct shard *shard, const struct shard_commit *commit)
{
    const struct shard_commit *waiting = shard->waiting;

    lock_assert_held(&shard->lock);
    while (waiting && waiting->link != commit->rests_on)
        waiting = waiting->next;
    return waiting;
}

/* Those that came before what they rest on wait behind it, if it has come. */
static void keep_early(struct shard *shard)
{
    lock_take(&shard->lock);
    for (struct shard_commit **at = &shard->group; *at;) {
        struct shard_commit *commit = *at;

        if (!commit->is_early || !is_awaited_here(shard, commit)) {
            at = &commit->next;
            continue;
        }
        commit->is_early = false;
        commit->result = STORE_WAIT;
        *at = commit->next;
        commit->next = NULL;
        *shard->end = commit;
        shard->end = &commit->next;
    }
    lock_give(&shard->lock);
}

static void ask_done(struct port_op *op)
{
    struct shard *shard = op->context;

    if (op->result == PORT_OK) /* else others ask, too, or have changed more: the look shows it */
        shard->bounds.epoch++;
    shard->looks_first = true;
    port_op_free(op);
    proceed_and_wake(shard);
}

/* Is a gap asked for? decision: 845 */
static bool asks_for_gap(struct shard *shard)
{
    if (shard->bounds.state != SHARD_LIVE || shard->bounds.is_moving ||
        !turn_asks(&shard->turn, clock_monotonic_ms()))
        return false;
    shard_send_ask(shard, ask_done);
    return true;
}

static void look_done(struct port_op *op)
{
    struct shard *shard = op->context;

    if (op->result == PORT_ABSENT && shard->may_create && shard->row.len == 0) {
        static const struct shard_bounds all = { .state = SHARD_LIVE, .epoch = 1 };

        port_op_free(op);
        shard_create(shard->port, shard->name, &all, create_done, shard);
        return;
    }
    if (op->result == PORT_ABSENT) {
        end_all(shard, STORE_NOT_FOUND);
    } else if (op->result != PORT_OK || shard_take_look(shard)) {
        log_line(LOG_ERROR, "shard %s: look: %s", shard->name,
                 op->result ? port_result_text(op->result) : "its bounds cannot be read");
        end_all(shard, STORE_UNKNOWN);
    } else {
        take_outcomes(shard);
        keep_early(shard);
    }
    port_op_free(op);
    if (!asks_for_gap(shard))
        proceed_and_wake(shard);
}

void shard_commit(struct shard *shard, struct shard_commit *commit)
{
    bool goes_on;

    assert(commit->waiter && commit->attempt.number > 0);
    commit->result = STORE_WAIT;
    commit->tries = 0;
    commit->newest = 0;
    commit->is_elsewhere = commit->is_early = false;
    commit->next = commit->behind = NULL;
    commit->last = commit;
    lock_take(&shard->lock);
    *shard->end = commit;
    shard->end = &commit->next;
    goes_on = shard_has_come(shard) || !shard->is_busy;
    shard->is_busy = true;
    lock_give(&shard->lock);
    if (goes_on)
        proceed(shard);
}
