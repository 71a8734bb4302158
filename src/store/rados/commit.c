/* Commits of the store: what a list of changes is in rows, the references of pieces, spaces that are dropped, and
 * what is told when the outcome is known. */
#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/log.h"
#include "store/rados/beat.h"
#include "store/rados/own_tasks.h"
#include "store/rados/piece_rows.h"
#include "store/rados/rados_private.h"
#include "store/rados/resting.h"
#include "store/rados/seal.h"
#include "store/rados/staged.h"
#include "store/rados/task_row.h"
#include "store/rados/todo.h"
#include "store/rados/transaction.h"
#include "store/record_key.h"

#define COMMIT_ARENA_MAX (256u << 20)

/* What is known of one part while its commit is under way. */
struct commit_member {
    struct partition partition;
    struct partition_header seen;
    struct rados_stripe *stripe;
    struct part_work *work;
    const struct piece_change *pieces; /* in the arena */
    size_t piece_count;
    bool has_pieces;
};

struct commit {
    struct transaction_owner owner; /* first */
    struct waiter waiter;
    struct rados *rados;
    struct transaction *transaction;
    struct arena *arena;
    instant now;
    uint64_t sequence;
    enum store_result result;
    struct commit_member members[COMMIT_PARTS_MAX];
    size_t count, at;
    struct resting resting;
    const struct guid *dropped;
    size_t dropped_count, sealed;
    struct arrival *arrival;
    struct todo_change *todo;
    int64_t released;          /* bytes of pieces */
    bool is_decided, is_ended; /* both: it is freed; under the store's lock */
};

static struct commit *commit_of_waiter(struct waiter *waiter)
{
    return (struct commit *)(void *)((char *)waiter - offsetof(struct commit, waiter));
}

/* ---- rows ---- */

static void add_task(struct commit *c, struct commit_member *member, const struct task_change *task)
{
    struct task_row row = {
        .kind = task->kind,
        .payload = task->payload,
        .partition_key = member->partition.key,
    };
    struct todo_change *change;

    if (task->is_done) {
        part_work_remove(member->work, c->arena, row_key_task(c->arena, task->due, &task->id));
    } else {
        assert(task->kind < TASK_OWN);
        part_work_task(member->work, c->arena, task->due, &task->id,
                       task_row_write(c->arena, &row));
    }
    change = arena_alloc(c->arena, sizeof *change);
    *change = (struct todo_change){ c->todo, task->is_done, task->due, task->id };
    c->todo = change;
}

static void add_counts(struct commit *c, struct commit_member *member,
                       const struct count_change *count)
{
    for (; count; count = count->next)
        part_work_count(member->work, c->arena, arena_copy(c->arena, count->name), count->delta);
}

static void add_own_task(struct commit *c, struct commit_member *member, uint32_t kind, instant due,
                         struct bytes payload)
{
    const struct task_row row = {
        .kind = kind,
        .payload = payload,
        .partition_key = member->partition.key,
    };
    struct guid id = guid_new();

    part_work_task(member->work, c->arena, due, &id, task_row_write(c->arena, &row));
}

static void add_changes(struct commit *c, struct commit_member *member,
                        const struct changes *changes)
{
    const struct guid *dropped;
    size_t dropped_count;

    part_work_records(member->work, c->arena, member->partition.key, changes_first(changes));
    part_work_index(member->work, c->arena, member->partition.key, changes_first_index(changes));
    add_counts(c, member, changes_first_count(changes));
    for (const struct task_change *t = changes_first_task(changes); t; t = t->next)
        add_task(c, member, t);
    dropped = changes_dropped_spaces(changes, &dropped_count);
    for (size_t i = 0; i < dropped_count; i++)
        add_own_task(c, member, TASK_DROP, c->now, bytes_of(dropped[i].b, sizeof dropped[i].b));
    if (dropped_count > 0) {
        struct guid *all = arena_array(c->arena, c->dropped_count + dropped_count, sizeof all[0]);

        memcpy(all, dropped, dropped_count * sizeof all[0]);
        if (c->dropped_count > 0)
            memcpy(all + dropped_count, c->dropped, c->dropped_count * sizeof all[0]);
        c->dropped = all;
        c->dropped_count += dropped_count;
    }
}

/* Is the piece put into another part of the commit? */
static bool is_moved(const struct commit *c, const struct commit_member *from,
                     const struct piece_change *piece)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct commit_member *to = &c->members[i];

        for (size_t k = 0; to != from && k < to->piece_count; k++)
            if (to->pieces[k].extent == piece->extent && to->pieces[k].offset == piece->offset &&
                to->pieces[k].references > 0)
                return true;
    }
    return false;
}

/* Those that nothing in the part refers to any longer are deleted after a while. Of those that have moved to another
 * part a row stays as long as they may be looked for. */
static enum store_result free_pieces(struct commit *c, struct commit_member *member,
                                     const struct piece_freed *freed)
{
    struct text released, moved;

    text_init(&released, c->arena, 0);
    text_init(&moved, c->arena, 0);
    for (size_t i = 0; i < freed->count; i++) {
        bool is_away = is_moved(c, member, freed->pieces[i]);

        piece_name_write(is_away ? &moved : &released, freed->pieces[i]);
        if (is_away)
            piece_row_moved(member->work, c->arena, member->partition.key, freed->pieces[i]);
        else
            c->released += freed->pieces[i]->length;
    }
    for (size_t i = 0; i < member->piece_count; i++) {
        const struct piece_change *piece = &member->pieces[i];

        if (piece->references < 0 && is_moved(c, member, piece) && !piece_is_freed(freed, piece)) {
            log_line(LOG_ERROR, "rados: a piece is moved to another partition, and stays");
            return STORE_IO;
        }
    }
    if (text_bytes(&released).len > 0)
        add_own_task(c, member, TASK_COLLECT, c->now + c->rados->grace, text_bytes(&released));
    if (text_bytes(&moved).len > 0)
        add_own_task(c, member, TASK_MOVED, c->now + OWN_MOVED_TICKS, text_bytes(&moved));
    return STORE_OK;
}

/* ---- the end ---- */

static void let_go(struct commit *c, bool is_end)
{
    struct rados *rados = c->rados;
    bool is_last;

    lock_take(&rados->lock);
    *(is_end ? &c->is_ended : &c->is_decided) = true;
    is_last = c->is_ended && c->is_decided;
    if (is_last)
        rados->commits--;
    if (is_last && rados->commits == 0)
        pthread_cond_broadcast(&rados->is_idle);
    lock_give(&rados->lock);
    if (!is_last)
        return;
    arena_free(c->arena);
    free(c);
}

static void ended(struct transaction_owner *owner)
{
    let_go((struct commit *)(void *)owner, true);
}

/* What the changed stripes are to show to those who come. */
static void raise_stripes(struct commit *c)
{
    rados_raise(&c->rados->newest_sequence, outcomes_durable(c->sequence));
    for (size_t i = 0; i < c->count; i++)
        rados_raise_newest(c->members[i].stripe, c->now);
}

/* Who comes too late would so again, unless what is pending is shown. */
static void note_conflict(struct commit *c)
{
    for (size_t i = 0; i < c->count; i++)
        rados_set_busy(c->members[i].stripe);
}

static void tell(struct commit *c)
{
    struct rados *rados = c->rados;
    uint64_t sequence = c->sequence;
    enum store_result result = c->result;

    if (result == STORE_CONFLICT)
        note_conflict(c);
    resting_end(rados, &c->members[0].partition, &c->resting);
    for (size_t i = 0; i < c->count; i++)
        staged_committed(rados->staged, c->members[i].pieces, c->members[i].piece_count, result);
    if (!result) {
        raise_stripes(c);
        staged_used(rados->staged, -c->released, c->released);
        todo_changed(rados, c->todo);
    }
    let_go(c, false); /* not used from here on */
    outcomes_end(rados->outcomes, sequence, result);
}

static void seal_next(struct commit *c);

static void space_sealed(struct waiter *waiter)
{
    struct commit *c = commit_of_waiter(waiter);

    arrival_drop(c->arrival);
    c->arrival = NULL;
    seal_next(c);
}

/* Before it is answered; who dies here leaves it to the task. */
static void seal_next(struct commit *c)
{
    if (c->sealed == c->dropped_count) {
        tell(c);
        return;
    }
    c->arrival = seal_start(c->rados->port, &c->dropped[c->sealed++]);
    c->waiter.wake = space_sealed;
    arrival_wait(c->arrival, &c->waiter);
}

static void decided(struct transaction_owner *owner, enum store_result result)
{
    struct commit *c = (struct commit *)(void *)owner;

    c->result = result;
    if (result || c->dropped_count == 0) {
        tell(c);
        return;
    }
    seal_next(c);
}

/* ---- the beginning ---- */

/* Before the transaction began. */
static void fail(struct commit *c, enum store_result result)
{
    transaction_drop(c->transaction);
    let_go(c, true);
    c->result = result;
    tell(c);
}

static struct piece_rows_of rows_of(const struct commit *c, const struct commit_member *member)
{
    return (struct piece_rows_of){
        .shards = c->rados->shards,
        .partition = &member->partition,
        .seen = &member->seen,
        .pieces = member->pieces,
        .count = member->piece_count,
        .staged = c->rados->staged,
    };
}

static void read_next(struct commit *c);

static void rows_read(struct waiter *waiter)
{
    struct commit *c = commit_of_waiter(waiter);
    struct commit_member *member = &c->members[c->at];
    const struct piece_rows_of of = rows_of(c, member);
    struct piece_freed freed = { .count = 0 };
    enum store_result result = piece_rows_take(&of, c->arrival, c->arena, member->work, &freed);

    arrival_drop(c->arrival);
    c->arrival = NULL;
    if (!result)
        result = free_pieces(c, member, &freed);
    if (result) {
        fail(c, result);
        return;
    }
    c->at++;
    read_next(c);
}

static void adopted(struct waiter *waiter)
{
    struct commit *c = commit_of_waiter(waiter);
    struct commit_member *member = &c->members[c->at];
    const struct piece_rows_of of = rows_of(c, member);

    arrival_drop(c->arrival);
    c->arrival = NULL;
    if (!staged_are_of(c->rados->staged, &member->partition, member->pieces, member->piece_count)) {
        fail(c, STORE_IO);
        return;
    }
    c->arrival = piece_rows_ask(&of);
    c->waiter.wake = rows_read;
    if (c->arrival)
        arrival_wait(c->arrival, &c->waiter);
    else
        rows_read(&c->waiter);
}

/* Sees to it that the pieces of the next part are its own, and reads how often they are referred to. */
static void read_next(struct commit *c)
{
    struct commit_member *member;

    while (c->at < c->count && c->members[c->at].piece_count == 0)
        c->at++;
    if (c->at == c->count) {
        transaction_start(c->transaction);
        return;
    }
    member = &c->members[c->at];
    c->arrival =
        staged_adopt(c->rados->staged, &member->partition, member->pieces, member->piece_count);
    c->waiter.wake = adopted;
    if (c->arrival)
        arrival_wait(c->arrival, &c->waiter);
    else
        adopted(&c->waiter);
}

static void base_settled(struct waiter *waiter)
{
    struct commit *c = commit_of_waiter(waiter);
    enum store_result base = outcomes_of(c->rados->outcomes, c->resting.awaited);

    if (!base)
        read_next(c);
    else /* one that is late may still be so when it is decided again: not at once, then */
        fail(c, base == STORE_UNKNOWN ? STORE_SHORTAGE : STORE_CONFLICT);
}

/* Once what it was decided on is durable. */
static void start(struct commit *c)
{
    c->waiter.wake = base_settled;
    if (c->resting.awaited == 0)
        read_next(c);
    else
        outcomes_wait(c->rados->outcomes, c->resting.awaited, &c->waiter);
}

static enum store_result take_pieces(struct commit *c, struct commit_member *member,
                                     const struct commit_part *part)
{
    const struct piece_change *pieces;
    size_t count;
    enum store_result result = commit_pieces(part, 1, &pieces, &count);

    if (result || count == 0)
        return result;
    member->pieces =
        memcpy(arena_array(c->arena, count, sizeof pieces[0]), pieces, count * sizeof pieces[0]);
    member->piece_count = count;
    staged_committing(c->rados->staged, pieces, count);
    return STORE_OK;
}

static struct commit *commit_new(struct rados *rados, instant now)
{
    struct commit *c = xcalloc(1, sizeof *c);

    c->owner = (struct transaction_owner){ decided, ended };
    c->rados = rados;
    c->now = now;
    c->arena = arena_new(COMMIT_ARENA_MAX);
    c->transaction = transaction_new(rados->shards, c->arena, now, &c->owner);
    lock_take(&rados->lock);
    rados->commits++;
    lock_give(&rados->lock);
    return c;
}

static enum store_result add_part(struct commit *c, const struct commit_part *part)
{
    struct rados_snapshot *snapshot = rados_snapshot_of(part->snapshot);
    struct commit_member *member = &c->members[c->count++];
    bool has_pieces = part->changes && changes_have_pieces(part->changes);

    *member = (struct commit_member){
        .partition = { snapshot->partition.space, arena_copy(c->arena, snapshot->partition.key) },
        .seen = *view_header(snapshot->view),
        .stripe = snapshot->stripe,
        .has_pieces = has_pieces,
    };
    member->work = transaction_add(c->transaction, &member->partition, &member->seen, has_pieces);
    if (!part->changes)
        return STORE_OK;
    add_changes(c, member, part->changes);
    return has_pieces ? take_pieces(c, member, part) : STORE_OK;
}

/* Are the headers of all parts known, and is the decision newer than what they say? If the snapshot was opened
 * before this front end knew how new the partition is, the caller could not know it either. */
static enum store_result begin_parts(const struct commit_part *parts, size_t count, instant now)
{
    for (size_t i = 0; i < count; i++) {
        struct rados_snapshot *snapshot = rados_snapshot_of(parts[i].snapshot);
        enum store_result result = rados_begin(snapshot);

        if (result)
            return result;
        if (view_header(snapshot->view)->version >= now &&
            view_header(snapshot->view)->version > snapshot->base.newest)
            return STORE_CONFLICT;
    }
    return STORE_OK;
}

/* Does it change nothing but records and counters, of one partition? */
static bool is_plain(const struct commit *c)
{
    const struct commit_member *only = &c->members[0];

    return c->count == 1 && only->piece_count == 0 && !only->has_pieces && !only->work->tasks &&
           !c->todo && c->dropped_count == 0;
}

static enum store_result begin_resting(struct commit *c, const struct commit_part *parts,
                                       struct store_access access)
{
    const struct resting_commit commit = {
        .rados = c->rados,
        .parts = parts,
        .count = c->count,
        .access = access,
        .transaction = c->transaction,
        .work = is_plain(c) ? c->members[0].work : NULL,
        .sequence = c->sequence,
    };

    return resting_begin(&commit, &c->resting);
}

enum store_result rados_commit(struct store *base, const struct commit_part *parts, size_t count,
                               instant now, struct store_access access, uint64_t *ret_sequence)
{
    struct rados *rados = rados_of(base);
    enum store_result result = beat_is_fenced(rados->beat)      ? STORE_IO
                               : beat_clock_agrees(rados->beat) ? begin_parts(parts, count, now)
                                                                : STORE_SHORTAGE;
    struct commit *c;
    uint64_t sequence;

    if (result)
        return result;
    c = commit_new(rados, now);
    for (size_t i = 0; i < count && !result; i++)
        result = add_part(c, &parts[i]);
    sequence = c->sequence = outcomes_begin(rados->outcomes, rados_fetch_rests(access));
    if (!result)
        result = begin_resting(c, parts, access);
    for (size_t i = 0; i < count; i++)
        rados_forget_view(access, rados_snapshot_of(parts[i].snapshot)->view);
    if (result)
        fail(c, result);
    else
        start(c);
    if (access.may_block) /* what cannot be known is told by the sequence */
        result = outcomes_await(rados->outcomes, sequence);
    if (result == STORE_UNKNOWN)
        result = STORE_OK;
    if (!result)
        *ret_sequence = sequence;
    return result;
}
