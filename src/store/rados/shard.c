#include "store/rados/shard.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/row_key.h"

/* So many commits to partitions that are in the group already are passed over to find others. */
#define PASSED_MAX 256u

struct shard {
    struct port *port;
    char *name;
    struct lock lock;
    struct shard_commit *waiting, **end; /* under lock */
    bool is_busy;                        /* under lock: an op is in flight, or is being made */

    /* Of whoever has made it busy. */
    struct shard_commit *group;
    struct bytes row;           /* of the bounds, on the heap, as it was read last */
    struct shard_bounds bounds; /* that it says */
    enum port_result refusal;   /* of the op that the look is about */
    struct port_step *bounds_step, *fence_step;
};

static struct bytes heap_copy(struct bytes from)
{
    char *to = xmalloc(from.len + 1);

    if (from.len > 0)
        memcpy(to, from.ptr, from.len);
    return bytes_of(to, from.len);
}

static enum store_result set_bounds(struct shard *shard, struct bytes row)
{
    struct shard_bounds bounds;
    struct bytes copy = heap_copy(row);
    enum store_result result = shard_bounds_read(copy, &bounds);

    if (result) {
        free((void *)(uintptr_t)copy.ptr);
        return result;
    }
    free((void *)(uintptr_t)shard->row.ptr);
    shard->row = copy;
    shard->bounds = bounds;
    return STORE_OK;
}

enum store_result shard_new(struct port *port, const char *name, struct bytes row,
                            struct shard **ret_shard)
{
    struct shard *shard = xcalloc(1, sizeof *shard);
    enum store_result result = set_bounds(shard, row);

    if (result) {
        free(shard);
        return result;
    }
    shard->port = port;
    shard->name = xstrdup(name);
    shard->end = &shard->waiting;
    lock_init(&shard->lock, RANK_SYNCER);
    *ret_shard = shard;
    return STORE_OK;
}

void shard_free(struct shard *shard)
{
    assert(!shard->is_busy && !shard->waiting);
    lock_release(&shard->lock);
    free((void *)(uintptr_t)shard->row.ptr);
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
    return bytes;
}

static bool has_partition(const struct shard_commit *group, struct bytes partition_key)
{
    for (; group; group = group->next)
        if (bytes_equal(group->partition_key, partition_key))
            return true;
    return false;
}

/* Moves commits from those that wait into the group, which is empty. invariant (2) */
static void fill_group(struct shard *shard)
{
    struct shard_commit **from = &shard->waiting, **to = &shard->group;
    size_t bytes = 0;
    unsigned count = 0, passed = 0;

    lock_assert_held(&shard->lock);
    assert(!shard->group);
    while (*from && count < SHARD_GROUP_COMMITS && passed < PASSED_MAX) {
        struct shard_commit *commit = *from;
        size_t more = commit_bytes(commit);

        if (count > 0 && bytes + more > SHARD_GROUP_BYTES)
            break;
        if (has_partition(shard->group, commit->partition_key)) {
            from = &commit->next;
            passed++;
            continue;
        }
        *from = commit->next;
        if (shard->end == &commit->next)
            shard->end = from;
        commit->next = NULL;
        *to = commit;
        to = &commit->next;
        bytes += more;
        count++;
    }
}

static void add_commit(struct port_op *op, struct shard_commit *commit)
{
    struct bytes key = row_key_header(op->arena, commit->partition_key);
    struct partition_header after =
        partition_header_after(&commit->seen, commit->now, commit->attempt);

    port_compare(op, key, partition_header_write(op->arena, &commit->seen));
    port_set(op, key, partition_header_write(op->arena, &after));
    for (const struct shard_change *c = commit->changes; c; c = c->next) {
        if (c->is_removal)
            port_remove(op, c->key);
        else
            port_set(op, c->key, c->value);
    }
    commit->tries++;
}

static void group_done(struct port_op *op);
static void look_done(struct port_op *op);

static void send_group(struct shard *shard)
{
    struct port_op *op = port_op_new(group_done, shard);
    bool is_fenced = false;

    port_compare(op, row_key_bounds(), shard->row);
    for (struct shard_commit *c = shard->group; c; c = c->next) {
        assert(c->attempt.incarnation == shard->group->attempt.incarnation);
        if (c->has_pieces && !is_fenced) {
            is_fenced = true;
            port_compare(op, row_key_fence(op->arena, c->attempt.incarnation),
                         (struct bytes){ NULL, 0 });
        }
        add_commit(op, c);
    }
    port_send(shard->port, shard->name, op);
}

/* Reads what the guards of the group compare, as it is now. */
static void send_look(struct shard *shard)
{
    struct port_op *op = port_op_new(look_done, shard);

    shard->bounds_step = port_get(op, row_key_bounds());
    shard->fence_step = NULL;
    for (struct shard_commit *c = shard->group; c; c = c->next) {
        c->header = port_get(op, row_key_header(op->arena, c->partition_key));
        if (c->has_pieces && !shard->fence_step)
            shard->fence_step = port_get(op, row_key_fence(op->arena, c->attempt.incarnation));
    }
    port_send(shard->port, shard->name, op);
}

/* ---- going on ---- */

/* As the bounds say that are known here. */
static bool may_commit(const struct shard *shard, const struct shard_commit *commit)
{
    return shard->bounds.state == SHARD_LIVE &&
           commit->attempt.incarnation >= shard->bounds.incarnation_floor &&
           shard_bounds_have(&shard->bounds, commit->partition_key);
}

/* Sends what is left of the group, else the next one, if any. What is left goes alone: with others it
 * might be refused for their sake again and again. The caller has made the shard busy, and holds no lock. A
 * group that does not fit the bounds is looked at first: they may be old, and nobody is woken in a call of his own. */
static void proceed(struct shard *shard)
{
    bool is_idle, fits = true;

    lock_take(&shard->lock);
    if (!shard->group)
        fill_group(shard);
    is_idle = !shard->group;
    shard->is_busy = !is_idle;
    lock_give(&shard->lock);
    if (is_idle)
        return;
    for (const struct shard_commit *c = shard->group; c; c = c->next)
        fits = fits && may_commit(shard, c);
    shard->refusal = PORT_REFUSED;
    if (fits)
        send_group(shard);
    else
        send_look(shard);
}

/* Takes commits with a result out of the group, and returns them. */
static struct shard_commit *take_ended(struct shard *shard)
{
    struct shard_commit *ended = NULL, **last = &ended, **at = &shard->group;

    while (*at) {
        struct shard_commit *commit = *at;

        if (commit->result == STORE_WAIT) {
            at = &commit->next;
            continue;
        }
        *at = commit->next;
        commit->next = NULL;
        *last = commit;
        last = &commit->next;
    }
    return ended;
}

/* Goes on, then wakes those that have ended: a waiter may free its commit, and use the shard. */
static void proceed_and_wake(struct shard *shard)
{
    struct shard_commit *ended = take_ended(shard);

    proceed(shard);
    while (ended) {
        struct shard_commit *commit = ended;

        ended = commit->next;
        commit->waiter->wake(commit->waiter);
    }
}

static void end_all(struct shard *shard, enum store_result result)
{
    for (struct shard_commit *c = shard->group; c; c = c->next)
        c->result = result;
}

static void group_done(struct port_op *op)
{
    struct shard *shard = op->context;
    enum port_result result = op->result;

    port_op_free(op);
    /* Each of these may be the second answer to an op whose first application succeeded. port.h (6) */
    if (result == PORT_REFUSED || result == PORT_FULL || result == PORT_TOO_LARGE) {
        shard->refusal = result;
        send_look(shard);
        return;
    }
    if (result != PORT_OK)
        log_line(LOG_ERROR, "shard %s: commit: %s", shard->name, port_result_text(result));
    end_all(shard, result == PORT_OK       ? STORE_OK
                   : result == PORT_ABSENT ? STORE_NOT_FOUND /* never made again under its name */
                                           : STORE_UNKNOWN);
    proceed_and_wake(shard);
}

/* ---- after a refusal ---- */

static struct bytes only_row(const struct port_step *step)
{
    return step->row_count > 0 ? step->rows[0].value : (struct bytes){ NULL, 0 };
}

/* What became of a commit of a group that was refused, or not sent yet; STORE_WAIT: to be sent. */
static enum store_result outcome(const struct shard *shard, const struct shard_commit *commit)
{
    bool was_sent = commit->tries > 0;
    struct partition_header header;
    enum store_result result = partition_header_read(only_row(commit->header), &header);

    if (!result)
        result = partition_header_outcome(&header, &commit->seen, commit->attempt);
    if (result == STORE_CORRUPT || result == STORE_UNKNOWN)
        return was_sent ? STORE_UNKNOWN : STORE_CONFLICT;
    if (result != STORE_WAIT)
        return result;
    if (shard->bounds.state == SHARD_SEALED)
        return STORE_NOT_FOUND;
    if (!shard_bounds_have(&shard->bounds, commit->partition_key))
        /* If it was applied, it has moved with its header. */
        return was_sent ? STORE_UNKNOWN : STORE_CONFLICT;
    if (!may_commit(shard, commit) ||
        (commit->has_pieces && shard->fence_step && only_row(shard->fence_step).len > 0))
        return STORE_IO;
    if (shard->refusal != PORT_REFUSED)
        return shard->refusal == PORT_FULL ? STORE_FULL : STORE_IO;
    return commit->tries >= SHARD_TRIES_MAX ? STORE_CONFLICT : STORE_WAIT;
}

static void look_done(struct port_op *op)
{
    struct shard *shard = op->context;

    if (op->result == PORT_ABSENT) {
        end_all(shard, STORE_NOT_FOUND);
    } else if (op->result != PORT_OK || set_bounds(shard, only_row(shard->bounds_step))) {
        log_line(LOG_ERROR, "shard %s: look: %s", shard->name,
                 op->result ? port_result_text(op->result) : "its bounds cannot be read");
        end_all(shard, STORE_UNKNOWN);
    } else {
        for (struct shard_commit *c = shard->group; c; c = c->next)
            c->result = outcome(shard, c);
    }
    port_op_free(op);
    proceed_and_wake(shard);
}

void shard_commit(struct shard *shard, struct shard_commit *commit)
{
    bool is_first;

    assert(commit->waiter && commit->attempt.number > 0);
    commit->result = STORE_WAIT;
    commit->tries = 0;
    commit->next = NULL;
    lock_take(&shard->lock);
    *shard->end = commit;
    shard->end = &commit->next;
    is_first = !shard->is_busy;
    shard->is_busy = true;
    lock_give(&shard->lock);
    if (is_first)
        proceed(shard);
}
