/* The slow store. Each object wraps one of the inner store. */
#include "late.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/sleeper.h"
#include "conformance.h"
#include "late_doomed.h"
#include "store/store_private.h"

#define SETTLE_US_MAX 1500
/* What readers see and never was is undone by then, whoever waits for it. */
#define UNDO_NS       (5 * 1000 * 1000)

/* What became of a sequence. Every snapshot, iterator and commit has one of its own. */
enum outcome { HAPPENED, NEVER_WAS, UNKNOWN };

struct sequence {
    enum outcome outcome;
    uint64_t inner; /* what all up to it saw or did in the inner store */
};

struct late_store {
    struct store base;
    struct store *inner;
    struct late_options options;
    struct doomed_list doomed; /* its lock before `mutex` */
    pthread_t settler;
    pthread_mutex_t mutex; /* all below under it */
    pthread_cond_t work;
    struct random random;
    struct sequence *sequences;
    uint64_t newest;
    uint64_t capacity;
    uint64_t settled; /* all up to it are */
    struct waiter *waiters;
    size_t waiter_count;
    struct waiter *held; /* until options.together are there */
    unsigned held_count;
    bool stopping;
};

/* Answers are counted in the order in which they are asked for. */
struct late_fetches {
    struct fetch_set base;
    uint64_t asked; /* by the reader so far */
    uint64_t there; /* so many of them have come */
    bool is_fetching;
};

struct late_snapshot {
    struct snapshot base;
    struct snapshot *inner;
    struct partition partition; /* the key is its own */
    bool is_held;
};

struct late_cursor {
    struct cursor base;
    struct cursor *inner;
    struct store_access access;
    uint64_t steps;
    struct late_snapshot *snapshot; /* NULL: of no snapshot */
};

static struct late_store *late_of(struct store *store)
{
    return (struct late_store *)(void *)store;
}

static struct late_snapshot *snapshot_of(struct snapshot *snapshot)
{
    return (struct late_snapshot *)(void *)snapshot;
}

static bool happens_of(struct late_store *late, unsigned times, unsigned of)
{
    bool does;

    pthread_mutex_lock(&late->mutex);
    does = random_below(&late->random, of) < times;
    pthread_mutex_unlock(&late->mutex);
    return does;
}

static bool happens(struct late_store *late, unsigned of_a_hundred)
{
    return happens_of(late, of_a_hundred, 100);
}

/* ---- sequences and how they settle ---- */

static uint64_t new_sequence(struct late_store *late, enum outcome outcome, uint64_t inner)
{
    uint64_t sequence;

    pthread_mutex_lock(&late->mutex);
    sequence = ++late->newest;
    if (sequence >= late->capacity) {
        late->capacity = 2 * sequence + 1000;
        late->sequences = xrealloc(late->sequences, late->capacity * sizeof late->sequences[0]);
    }
    if (sequence > 1 && late->sequences[sequence - 1].inner > inner)
        inner = late->sequences[sequence - 1].inner;
    late->sequences[sequence] = (struct sequence){ outcome, inner };
    pthread_mutex_unlock(&late->mutex);
    return sequence;
}

static struct waiter *take_any(struct late_store *late)
{
    uint64_t skip = random_below(&late->random, late->waiter_count);
    struct waiter **link = &late->waiters;
    struct waiter *taken;

    while (skip-- > 0)
        link = &(*link)->next;
    taken = *link;
    *link = taken->next;
    late->waiter_count--;
    if (taken->sequence > late->settled)
        late->settled = taken->sequence;
    return taken;
}

/* Until there is a waiter, or a while has passed. Under the mutex. */
static void wait_for_work(struct late_store *late)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += UNDO_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&late->work, &late->mutex, &until);
}

static void *settle(void *argument)
{
    struct late_store *late = argument;

    pthread_mutex_lock(&late->mutex);
    while (late->waiter_count > 0 || !late->stopping) {
        struct timespec pause = { 0 };
        struct waiter *waiter;

        if (late->waiter_count == 0) {
            wait_for_work(late);
            pthread_mutex_unlock(&late->mutex);
            doomed_undo(&late->doomed);
            pthread_mutex_lock(&late->mutex);
            continue;
        }
        pause.tv_nsec = (long)random_below(&late->random, SETTLE_US_MAX) * 1000;
        pthread_mutex_unlock(&late->mutex);
        nanosleep(&pause, NULL);
        doomed_undo(&late->doomed); /* before anything that saw it settles */
        pthread_mutex_lock(&late->mutex);
        waiter = take_any(late);
        pthread_mutex_unlock(&late->mutex);
        waiter->wake(waiter);
        pthread_mutex_lock(&late->mutex);
    }
    pthread_mutex_unlock(&late->mutex);
    return NULL;
}

/* Will be woken a little later. */
static void wake_late(struct late_store *late, struct waiter *waiter)
{
    pthread_mutex_lock(&late->mutex);
    waiter->next = late->waiters;
    late->waiters = waiter;
    late->waiter_count++;
    pthread_cond_signal(&late->work);
    pthread_mutex_unlock(&late->mutex);
}

/* ---- fetching ---- */

/* So many steps of a cursor come at once. */
#define STEPS_FETCHED 64

static struct fetch_set *late_fetch_set_open(struct store *store)
{
    struct late_fetches *fetches = xcalloc(1, sizeof *fetches);

    fetches->base.store = store;
    return &fetches->base;
}

static void late_fetch_set_close(struct fetch_set *set)
{
    free(set);
}

static void late_fetch_set_begin(struct fetch_set *set, bool is_repetition)
{
    struct late_fetches *fetches = (struct late_fetches *)(void *)set;

    fetches->asked = 0;
    fetches->is_fetching = false;
    if (!is_repetition)
        fetches->there = 0;
}

/* Woken with so many others, the first time that so many wait; until then nobody is. */
static void wake_together(struct late_store *late, struct waiter *waiter)
{
    struct waiter *all = NULL;

    pthread_mutex_lock(&late->mutex);
    waiter->next = late->held;
    late->held = waiter;
    if (++late->held_count >= late->options.together) {
        all = late->held;
        late->held = NULL;
        late->options.together = 0;
    }
    pthread_mutex_unlock(&late->mutex);
    while (all) {
        struct waiter *next = all->next;

        wake_late(late, all);
        all = next;
    }
}

static bool waits_together(struct late_store *late)
{
    bool does;

    pthread_mutex_lock(&late->mutex);
    does = late->options.together > 0;
    pthread_mutex_unlock(&late->mutex);
    return does;
}

static bool late_fetch_set_wait(struct fetch_set *set, struct waiter *waiter)
{
    struct late_fetches *fetches = (struct late_fetches *)(void *)set;
    struct late_store *late = late_of(set->store);

    if (!fetches->is_fetching)
        return false;
    fetches->is_fetching = false;
    fetches->there = fetches->asked;
    fetches->asked = 0;
    waiter->sequence = 0;
    if (waits_together(late))
        wake_together(late, waiter);
    else
        wake_late(late, waiter);
    return true;
}

/* Has the answer that was just given come only now? What a set holds is not lost again. */
static bool is_new(struct store_access access)
{
    const struct late_fetches *fetches = (const struct late_fetches *)(const void *)access.fetches;

    return access.may_block || fetches->asked == fetches->there;
}

/* On this thread, as long as fetches wait for each other. The main thread starts the server before anybody can
 * ask for anything: it waits for nobody. */
static void block(struct late_store *late)
{
    struct sleeper sleeper;

    if (gettid() == getpid() || !waits_together(late))
        return;
    sleeper_init(&sleeper);
    wake_together(late, sleeper_arm(&sleeper));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

/* STORE_OK: the answer has come. */
static enum store_result ask(struct late_store *late, struct store_access access)
{
    struct late_fetches *fetches = (struct late_fetches *)(void *)access.fetches;

    if (access.may_block)
        block(late);
    if (access.may_block || (fetches && fetches->asked++ < fetches->there))
        return STORE_OK;
    if (fetches)
        fetches->is_fetching = true;
    return STORE_WAIT;
}

/* ---- durability ---- */

/* Waits in the inner store for a waiter of ours. */
struct inner_wait {
    struct waiter waiter; /* first */
    struct late_store *late;
    struct waiter *outer;
};

static void inner_is_durable(struct waiter *waiter)
{
    struct inner_wait *wait = (struct inner_wait *)(void *)waiter;

    wake_late(wait->late, wait->outer);
    free(wait);
}

static void late_wait_durable(struct store *store, uint64_t sequence, struct waiter *waiter)
{
    struct late_store *late = late_of(store);
    struct inner_wait *wait = NULL;
    uint64_t inner = 0;

    waiter->sequence = sequence;
    pthread_mutex_lock(&late->mutex);
    assert(sequence <= late->newest);
    if (sequence > late->settled) {
        wait = xcalloc(1, sizeof *wait);
        *wait = (struct inner_wait){ { .wake = inner_is_durable }, late, waiter };
        inner = late->sequences[sequence].inner;
    }
    pthread_mutex_unlock(&late->mutex);
    if (wait)
        store_wait_durable(late->inner, inner, &wait->waiter);
    else
        waiter->wake(waiter);
}

static enum store_result late_settled(struct store *store, uint64_t sequence)
{
    static const enum store_result results[] = {
        [HAPPENED] = STORE_OK,
        [NEVER_WAS] = STORE_CONFLICT,
        [UNKNOWN] = STORE_UNKNOWN,
    };
    struct late_store *late = late_of(store);
    struct sequence found = { HAPPENED, 0 };
    enum store_result result;
    bool is_settled;

    pthread_mutex_lock(&late->mutex);
    is_settled = sequence <= late->settled;
    if (sequence > 0)
        found = late->sequences[sequence];
    pthread_mutex_unlock(&late->mutex);
    if (!is_settled)
        return STORE_WAIT;
    result = store_settled(late->inner, found.inner);
    return result ? result : results[found.outcome];
}

/* ---- snapshots ---- */

static struct bytes copy_key(struct bytes key)
{
    char *copy = xcalloc(1, key.len + 1);

    if (key.len > 0)
        memcpy(copy, key.ptr, key.len);
    return bytes_of(copy, key.len);
}

static struct snapshot *late_snapshot_open(struct store *store, struct partition partition)
{
    struct late_store *late = late_of(store);
    struct late_snapshot *snapshot = xcalloc(1, sizeof *snapshot);
    bool is_doomed;

    doomed_lock(&late->doomed);
    is_doomed = doomed_covers(&late->doomed, partition);
    snapshot->inner = late->inner->operations->snapshot_open(late->inner, partition);
    doomed_unlock(&late->doomed);
    snapshot->partition = (struct partition){ partition.space, copy_key(partition.key) };
    snapshot->base = *snapshot->inner;
    snapshot->base.store = store;
    snapshot->base.sequence =
        new_sequence(late, is_doomed ? NEVER_WAS : HAPPENED, snapshot->inner->sequence);
    return &snapshot->base;
}

static void late_snapshot_close(struct snapshot *base)
{
    snapshot_close(snapshot_of(base)->inner);
    free((char *)snapshot_of(base)->partition.key.ptr);
    free(base);
}

static enum store_result late_snapshot_hold(struct snapshot *base)
{
    struct late_snapshot *snapshot = snapshot_of(base);
    struct late_store *late = late_of(base->store);

    if (snapshot->is_held)
        return STORE_OK;
    if (ask(late, base->access))
        return STORE_WAIT;
    if (happens(late, late->options.lost_reads))
        return STORE_CONFLICT;
    snapshot->is_held = true;
    return STORE_OK;
}

/* Whether a read may go on. */
static enum store_result may_read(struct late_store *late, const struct late_snapshot *snapshot,
                                  struct store_access access)
{
    if (ask(late, access))
        return STORE_WAIT;
    if (!(snapshot && snapshot->is_held) && is_new(access) &&
        happens(late, late->options.lost_reads))
        return STORE_CONFLICT;
    return STORE_OK;
}

static enum store_result late_get(struct snapshot *base, struct bytes key, struct arena *arena,
                                  struct record *ret_record)
{
    struct late_snapshot *snapshot = snapshot_of(base);
    struct late_store *late = late_of(base->store);
    enum store_result result = may_read(late, snapshot, base->access);

    if (result)
        return result;
    snapshot->inner->access = STORE_MAY_BLOCK;
    return late->inner->operations->get(snapshot->inner, key, arena, ret_record);
}

/* ---- commits ---- */

/* What is to become of a commit. One whose syncer a test holds is looked at by others meanwhile. */
static enum outcome choose_outcome(struct late_store *late)
{
#ifdef LAGRA_GATES
    if (gate_syncer_held())
        return HAPPENED;
#endif
    if (happens(late, late->options.lost_commits))
        return NEVER_WAS;
    return happens(late, late->options.unknown_commits) ? UNKNOWN : HAPPENED;
}

/* What a value without pieces has in front of what the caller gave (store/record_value.h). */
#define VALUE_HEAD_BYTES 2u

/* Callers keep to the limits that they were given. */
static void check_limits(struct store_limits limits, const struct commit_part *parts, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const struct change *change = parts[i].changes ? changes_first(parts[i].changes) : NULL;

        bytes += parts[i].changes ? changes_bytes(parts[i].changes) : 0;
        for (; change; change = change->next)
            assert(change->key.len + change->value.len <= limits.record_bytes + VALUE_HEAD_BYTES);
    }
    assert(bytes <= limits.commit_bytes);
}

/* Does one of them rest on what never was? */
static bool is_doomed(struct late_store *late, const struct commit_part *parts, size_t count)
{
    bool is = false;

    doomed_lock(&late->doomed);
    for (size_t i = 0; i < count; i++)
        is = is || doomed_covers(&late->doomed, snapshot_of(parts[i].snapshot)->partition);
    doomed_unlock(&late->doomed);
    return is;
}

/* Readers see every other commit that never was, if it can be undone. */
static bool can_be_shown(struct late_store *late, const struct commit_part *parts, size_t count)
{
    return count == 1 && parts[0].changes && doomed_can(parts[0].changes) && happens(late, 50);
}

static enum store_result show_doomed(struct late_store *late, const struct commit_part *part,
                                     const struct commit_part *inner, instant now,
                                     uint64_t *ret_sequence)
{
    inner->snapshot->access = STORE_MAY_BLOCK;
    return doomed_commit(&late->doomed, inner, snapshot_of(part->snapshot)->partition, now,
                         ret_sequence);
}

static enum store_result late_commit(struct store *store, const struct commit_part *parts,
                                     size_t count, instant now, struct store_access access,
                                     uint64_t *ret_sequence)
{
    struct late_store *late = late_of(store);
    struct commit_part inner[COMMIT_PARTS_MAX];
    enum store_result result = STORE_OK;
    enum outcome outcome;
    uint64_t sequence = 0;

    if (happens(late, late->options.fetches) && ask(late, access))
        return STORE_WAIT;
    outcome = choose_outcome(late);
    check_limits(store_limits(store), parts, count);
    for (size_t i = 0; i < count; i++)
        inner[i] = (struct commit_part){ snapshot_of(parts[i].snapshot)->inner, parts[i].changes };
    if (is_doomed(late, parts, count))
        outcome = NEVER_WAS;
    else if (outcome == NEVER_WAS && can_be_shown(late, parts, count))
        result = show_doomed(late, &parts[0], &inner[0], now, &sequence);
    if (outcome == HAPPENED || (outcome == UNKNOWN && happens(late, 50)))
        result = late->inner->operations->commit(late->inner, inner, count, now, STORE_MAY_BLOCK,
                                                 &sequence);
    if (!result)
        *ret_sequence = new_sequence(late, outcome, sequence);
    return result;
}

/* ---- cursors ---- */

static struct cursor *wrap_cursor(struct store *store, struct cursor *inner,
                                  struct store_access access, struct late_snapshot *snapshot)
{
    struct late_cursor *cursor;

    if (!inner)
        return NULL;
    cursor = xcalloc(1, sizeof *cursor);
    *cursor = (struct late_cursor){ { .store = store }, inner, access, .snapshot = snapshot };
    return &cursor->base;
}

static struct cursor *late_scan_cursor(struct snapshot *base, struct bytes end, enum scan_kind kind)
{
    struct late_snapshot *snapshot = snapshot_of(base);
    struct late_store *late = late_of(base->store);

    snapshot->inner->access = STORE_MAY_BLOCK;
    return wrap_cursor(base->store,
                       late->inner->operations->scan_cursor(snapshot->inner, end, kind),
                       base->access, snapshot);
}

static struct cursor *late_space_cursor(struct store *store, const struct guid *space,
                                        struct bytes end, struct store_access access,
                                        uint64_t *ret_sequence)
{
    struct late_store *late = late_of(store);
    uint64_t sequence = 0;
    struct cursor *inner =
        late->inner->operations->space_cursor(late->inner, space, end, STORE_MAY_BLOCK, &sequence);

    *ret_sequence = new_sequence(late, HAPPENED, sequence);
    return wrap_cursor(store, inner, access, NULL);
}

static struct cursor *late_row_cursor(struct store *store, struct bytes end)
{
    return late_of(store)->inner->operations->row_cursor(late_of(store)->inner, end);
}

static enum store_result show(struct late_cursor *cursor, enum store_result result)
{
    cursor->base.key = cursor->inner->key;
    cursor->base.value = cursor->inner->value;
    return result;
}

static enum store_result late_cursor_seek(struct cursor *base, struct bytes key)
{
    struct late_cursor *cursor = (struct late_cursor *)(void *)base;
    enum store_result result = may_read(late_of(base->store), cursor->snapshot, cursor->access);

    return result ? result
                  : show(cursor, cursor->inner->store->operations->cursor_seek(cursor->inner, key));
}

/* Far less often than the first record: a scan of some thousand must end once. */
static enum store_result late_cursor_next(struct cursor *base)
{
    struct late_cursor *cursor = (struct late_cursor *)(void *)base;
    struct late_store *late = late_of(base->store);
    bool is_held = cursor->snapshot && cursor->snapshot->is_held;

    if (cursor->steps++ % STEPS_FETCHED == 0 && ask(late, cursor->access))
        return STORE_WAIT;
    if (!is_held && happens_of(late, late->options.lost_reads, 100 * 1000))
        return STORE_CONFLICT;
    return show(cursor, cursor->inner->store->operations->cursor_next(cursor->inner));
}

static void late_cursor_close(struct cursor *base)
{
    struct late_cursor *cursor = (struct late_cursor *)(void *)base;

    cursor->inner->store->operations->cursor_close(cursor->inner);
    free(cursor);
}

/* ---- the rest goes to the inner store ---- */

static void late_checkpoint_clock(struct store *store)
{
    store_checkpoint_clock(late_of(store)->inner);
}

static instant late_time_passed(struct store *store, instant t)
{
    return store_time_passed(late_of(store)->inner, t) - LATE_STEPS_OF_OTHERS;
}

static instant late_time_shown(struct store *store, instant passed)
{
    return store_time_shown(late_of(store)->inner, passed + LATE_STEPS_OF_OTHERS);
}

static enum store_result late_delete_row(struct store *store, const struct guid *space,
                                         struct bytes key)
{
    return late_of(store)->inner->operations->delete_row(late_of(store)->inner, space, key);
}

static enum store_result late_count(struct store *store, const struct guid *space, struct bytes key,
                                    struct store_access access, int64_t *ret_sum,
                                    uint64_t *ret_sequence)
{
    struct late_store *late = late_of(store);
    enum store_result result;
    uint64_t sequence = 0;

    if (ask(late, access))
        return STORE_WAIT;
    result = late->inner->operations->count(late->inner, space, key, STORE_MAY_BLOCK, ret_sum,
                                            &sequence);
    *ret_sequence = new_sequence(late, HAPPENED, sequence);
    return result;
}

static struct store_limits late_limits(const struct store *store)
{
    const struct late_store *late = (const struct late_store *)(const void *)store;
    struct store_limits limits = store_limits(late->inner), wanted = late->options.limits;

    return (struct store_limits){
        .inline_bytes = wanted.inline_bytes > 0 ? wanted.inline_bytes : limits.inline_bytes,
        .record_bytes = wanted.record_bytes > 0 ? wanted.record_bytes : limits.record_bytes,
        .commit_bytes = wanted.commit_bytes > 0 ? wanted.commit_bytes : limits.commit_bytes,
        .group_parts = wanted.group_parts > 0 ? wanted.group_parts : limits.group_parts,
        .settles_later = true,
    };
}

static unsigned late_descriptors(struct store *store)
{
    return store_descriptors(late_of(store)->inner);
}

static bool late_healthy(struct store *store)
{
    return store_healthy(late_of(store)->inner);
}

static bool late_is_full(struct store *store)
{
    return store_is_full(late_of(store)->inner);
}

static bool late_wants_reopening(struct store *store)
{
    return store_wants_reopening(late_of(store)->inner);
}

/* A stage is the inner store's own from here on. */
static struct stage *late_stage_open(struct store *store, struct partition partition,
                                     uint64_t length_hint)
{
    return stage_open(late_of(store)->inner, partition, length_hint);
}

/* Now and then the bytes have to be fetched first. */
static bool fetches(struct late_store *late, struct waiter *waiter)
{
    if (!waiter || !happens(late, late->options.fetches))
        return false;
    waiter->sequence = 0;
    wake_late(late, waiter);
    return true;
}

static enum store_result late_piece_read(struct store *store, const struct piece *piece,
                                         uint32_t offset, uint32_t length, void *to,
                                         struct waiter *waiter)
{
    if (fetches(late_of(store), waiter))
        return STORE_WAIT;
    return piece_read(late_of(store)->inner, piece, offset, length, to, waiter);
}

static enum store_result late_piece_check(struct store *store, const struct piece *piece,
                                          uint32_t offset, uint32_t length,
                                          struct piece_file *ret_file, struct waiter *waiter)
{
    if (fetches(late_of(store), waiter))
        return STORE_WAIT;
    return piece_check(late_of(store)->inner, piece, offset, length, ret_file, waiter);
}

static void late_piece_give(struct store *store, const struct piece_file *file)
{
    piece_give(late_of(store)->inner, file);
}

static void late_collect_now(struct store *store, struct store_usage *ret_usage)
{
    store_collect_now(late_of(store)->inner, ret_usage);
}

#ifdef LAGRA_GATES
static void late_drop_caches(struct store *store)
{
    store_drop_caches(late_of(store)->inner);
}
#endif

static void late_close(struct store *store)
{
    struct late_store *late = late_of(store);

    pthread_mutex_lock(&late->mutex);
    late->stopping = true;
    pthread_cond_signal(&late->work);
    pthread_mutex_unlock(&late->mutex);
    pthread_join(late->settler, NULL);
    doomed_undo(&late->doomed);
    doomed_release(&late->doomed);
    pthread_mutex_destroy(&late->mutex);
    pthread_cond_destroy(&late->work);
    store_close(late->inner);
    free(late->sequences);
    free(late);
}

static const struct store_operations late_operations = {
    .close = late_close,
    .healthy = late_healthy,
    .wants_reopening = late_wants_reopening,
    .is_full = late_is_full,
    .descriptors = late_descriptors,
    .limits = late_limits,
    .fetch_set_open = late_fetch_set_open,
    .fetch_set_close = late_fetch_set_close,
    .fetch_set_begin = late_fetch_set_begin,
    .fetch_set_wait = late_fetch_set_wait,
    .snapshot_open = late_snapshot_open,
    .snapshot_close = late_snapshot_close,
    .snapshot_hold = late_snapshot_hold,
    .get = late_get,
    .commit = late_commit,
    .wait_durable = late_wait_durable,
    .settled = late_settled,
    .scan_cursor = late_scan_cursor,
    .space_cursor = late_space_cursor,
    .row_cursor = late_row_cursor,
    .delete_row = late_delete_row,
    .checkpoint_clock = late_checkpoint_clock,
    .time_passed = late_time_passed,
    .time_shown = late_time_shown,
    .count = late_count,
    .cursor_seek = late_cursor_seek,
    .cursor_next = late_cursor_next,
    .cursor_close = late_cursor_close,
    .stage_open = late_stage_open,
    .piece_read = late_piece_read,
    .piece_check = late_piece_check,
    .piece_give = late_piece_give,
    .collect_now = late_collect_now,
#ifdef LAGRA_GATES
    .drop_caches = late_drop_caches,
#endif
};

struct store *store_open_late(struct store *inner, struct late_options options)
{
    struct late_store *late = xcalloc(1, sizeof *late);
    int error;

    late->base.operations = &late_operations;
    late->base.deferred = inner->deferred;
    late->inner = inner;
    late->options = options;
    doomed_init(&late->doomed, inner);
    late->random.state = clock_now();
    pthread_mutex_init(&late->mutex, NULL);
    pthread_cond_init(&late->work, NULL);
    error = pthread_create(&late->settler, NULL, settle, late);
    assert(!error);
    return &late->base;
}
