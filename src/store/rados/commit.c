/* Commits of the store: what they wait for first, the references of pieces, spaces that are dropped, and what is reported
 * when the outcome is known. */
#include <stdlib.h>

#include "base/crc.h"
#include "store/rados/beat.h"
#include "store/rados/commit_private.h"
#include "store/rados/seal.h"
#include "store/rados/staged.h"

#define COMMIT_ARENA_MAX (256u << 20)

static struct commit *commit_of_waiter(struct waiter *waiter)
{
    return (struct commit *)(void *)((char *)waiter - offsetof(struct commit, waiter));
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

/* A commit that came too late would again, unless what is pending is shown. */
static void note_conflict(struct commit *c)
{
    for (size_t i = 0; i < c->count; i++)
        rados_set_busy(c->members[i].stripe);
}

/* One that is changed again and again is kept in memory from then on: its next change needs no read. */
static void note_change(struct commit *c)
{
    const struct commit_member *only = &c->members[0];
    struct rados_stripe *stripe = only->stripe;
    uint32_t who = crc32c(1, only->partition.key.ptr, only->partition.key.len);
    uint64_t second = clock_monotonic_ms() / 1000, before;

    if (!c->is_plain)
        return;
    before = atomic_exchange(&stripe->changed, second << 32 | who);
    if ((uint32_t)before == who && (before >> 32) + 1 >= second)
        rados_set_busy(stripe);
}

static void tell(struct commit *c)
{
    struct rados *rados = c->rados;
    uint64_t sequence = c->sequence;
    enum store_result result = c->result;

    if (result == STORE_CONFLICT)
        note_conflict(c);
    for (size_t i = 0; i < c->count; i++) {
        resting_end(rados, &c->members[i].partition, sequence, &c->resting, result == STORE_OK);
        staged_committed(rados->staged, c->members[i].pieces, c->members[i].piece_count, result);
    }
    resting_release(&c->resting);
    if (!result) {
        raise_stripes(c);
        note_change(c);
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

/* Before it is answered; after a crash here the task does it. */
static void seal_next(struct commit *c)
{
    if (c->sealed == c->dropped_count) {
        tell(c);
        return;
    }
    c->arrival = seal_start(c->rados->shards, &c->dropped[c->sealed++]);
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
static void ask_rows(struct commit *c);

static void rows_read(struct waiter *waiter)
{
    struct commit *c = commit_of_waiter(waiter);
    struct commit_member *member = &c->members[c->at];
    const struct piece_rows_of of = rows_of(c, member);
    struct piece_freed freed = { .count = 0 };
    enum store_result result = piece_rows_take(&of, c->arrival, c->arena, member->work, &freed);

    arrival_drop(c->arrival);
    c->arrival = NULL;
    if (result == STORE_WAIT) {
        ask_rows(c);
        return;
    }
    if (!result)
        result = commit_free_pieces(c, member, &freed);
    if (result) {
        fail(c, result);
        return;
    }
    c->at++;
    read_next(c);
}

static void ask_rows(struct commit *c)
{
    const struct piece_rows_of of = rows_of(c, &c->members[c->at]);

    c->arrival = piece_rows_ask(&of);
    c->waiter.wake = rows_read;
    if (c->arrival)
        arrival_wait(c->arrival, &c->waiter);
    else
        rows_read(&c->waiter);
}

static void adopted(struct waiter *waiter)
{
    struct commit *c = commit_of_waiter(waiter);
    struct commit_member *member = &c->members[c->at];

    arrival_drop(c->arrival);
    c->arrival = NULL;
    if (!staged_are_of(c->rados->staged, &member->partition, member->pieces, member->piece_count)) {
        fail(c, STORE_IO);
        return;
    }
    ask_rows(c);
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

    if (!base || c->resting.is_behind)
        read_next(c);
    else /* one that is late may still be so when it is decided again: not at once, then */
        fail(c, base == STORE_UNKNOWN ? STORE_SHORTAGE : STORE_CONFLICT);
}

/* Once what it was decided on is durable, or it is its turn. */
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
    enum store_result result = STORE_OK;

    *member = (struct commit_member){
        .partition = { snapshot->partition.space, arena_copy(c->arena, snapshot->partition.key) },
        .seen = *view_header(snapshot->view),
        .stripe = snapshot->stripe,
        .has_pieces = has_pieces,
    };
    member->work = transaction_add(c->transaction, &member->partition, &member->seen, has_pieces);
    if (part->changes)
        result = commit_add_changes(c, member, snapshot->view, part->changes);
    return !result && has_pieces ? take_pieces(c, member, part) : result;
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
        if (view_header(snapshot->view)->has_limbs && parts[i].changes)
            result = commit_limbs_begin(snapshot, parts[i].changes);
        if (result)
            return result;
    }
    return STORE_OK;
}

/* Does it change nothing but records and counters, of one partition? */
static bool is_plain(const struct commit *c)
{
    const struct commit_member *only = &c->members[0];

    return c->count == 1 && only->piece_count == 0 && !only->has_pieces && !only->seen.has_limbs &&
           !only->work->tasks && !c->todo && c->dropped_count == 0;
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
        .work = c->is_plain ? c->members[0].work : NULL,
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
    c->is_plain = is_plain(c);
    sequence = c->sequence = outcomes_begin(rados->outcomes, rados_fetch_rests(access));
    if (!result)
        result = begin_resting(c, parts, access);
    for (size_t i = 0; i < count; i++)
        rados_forget_view(access, rados_snapshot_of(parts[i].snapshot)->view);
    if (result)
        fail(c, result);
    else
        start(c);
    if (access.may_block) /* what cannot be known is answered by the sequence */
        result = outcomes_await(rados->outcomes, sequence);
    if (result == STORE_UNKNOWN)
        result = STORE_OK;
    if (!result)
        *ret_sequence = sequence;
    return result;
}
