/* Functions for decisions: partitions, permission, errors. See decision.h. */
#include "service/decision.h"

#include <assert.h>

#include "base/episode.h"

/* Asserts that d->changes belong to the subject's part, if that is open. In a part of a
 * transaction, the subject belongs to the transaction's decision. */
static void assert_parts(const struct decision *d)
{
    assert(d->part_count <= DECISION_PARTS_MAX);
    for (unsigned i = 0; i < d->part_count; i++)
        assert(d->parts[i].before && (d->parts[i].before != d->before || !d->parts[i].changes ||
                                      d->parts[i].changes == d->changes));
}

void decision_saw(struct decision *d, uint64_t sequence)
{
    if (sequence > d->seen)
        d->seen = sequence;
}

void decision_saw_failure(struct decision *d)
{
    if (d->failed_ns == 0)
        d->failed_ns = clock_boot_ns();
}

void decision_saw_all(struct decision *d, const struct decision *part)
{
    decision_saw(d, part->seen);
    if (part->failed_ns > d->failed_ns)
        d->failed_ns = part->failed_ns;
}

/* ---- the partitions ---- */

void decision_wakes(struct decision *d, const struct waiter_key *key)
{
    struct decision_wake *wake;

    if (d->wakes && waiter_key_equal(&d->wakes->key, key))
        return;
    wake = arena_alloc(d->arena, sizeof *wake);
    *wake = (struct decision_wake){ .next = d->wakes, .key = *key };
    d->wakes = wake;
}

struct decision_part *decision_open(struct decision *d, struct partition partition,
                                    struct changes *changes)
{
    struct decision_part *part = &d->parts[d->part_count];

    assert(d->part_count < DECISION_PARTS_MAX);
    *part = (struct decision_part){ .partition = partition,
                                    .before = read_view_open(d->store, partition, d->access),
                                    .changes = changes };
    d->part_count++;
    decision_saw(d, read_view_sequence(part->before));
    assert_parts(d);
    return part;
}

/* Returns the subject's part; NULL if it is not open or belongs to another decision. */
static struct decision_part *subject_part(struct decision *d)
{
    for (unsigned i = 0; i < d->part_count; i++)
        if (d->before && d->parts[i].before == d->before)
            return &d->parts[i];
    return NULL;
}

void decision_open_subject(struct decision *d, struct partition partition)
{
    struct decision_part *part = subject_part(d);

    if (part)
        decision_leave(d, part);
    assert(changes_empty(d->changes));
    d->before = decision_open(d, partition, d->changes)->before;
    d->partition = partition;
    assert_parts(d);
}

struct decision_part *decision_find_part(struct decision *d, struct partition partition)
{
    for (unsigned i = 0; i < d->part_count; i++) {
        struct decision_part *part = &d->parts[i];

        if (guid_equal(&part->partition.space, &partition.space) &&
            bytes_equal(part->partition.key, partition.key))
            return part;
    }
    return NULL;
}

void decision_move_subject(struct decision *d, struct decision_part *part)
{
    struct decision_part *old = subject_part(d);

    assert(old && changes_empty(d->changes));
    if (part == old)
        return;
    old->changes = NULL;
    if (part->changes)
        d->changes = part->changes;
    part->changes = d->changes;
    d->before = part->before;
    d->partition = part->partition;
    assert_parts(d);
}

void decision_add_subject(struct decision *d, struct decision_part *part)
{
    assert(subject_part(d) && part->changes);
    d->changes = part->changes;
    d->before = part->before;
    d->partition = part->partition;
    assert_parts(d);
}

struct read_view *decision_detach(struct decision *d, struct decision_part *newest)
{
    assert(d->part_count > 0 && newest == &d->parts[d->part_count - 1]);
    d->part_count--;
    return newest->before;
}

void decision_leave(struct decision *d, struct decision_part *newest)
{
    read_view_close(decision_detach(d, newest));
}

static bool is_dropped(const struct decision *d, const struct decision_part *part)
{
    struct read_view *now = read_view_open(d->store, part->partition, d->access);
    bool dropped = read_view_is_deleted(now);

    read_view_close(now);
    return dropped;
}

enum store_result decision_confirm_part(const struct decision *d, const struct decision_part *part)
{
    struct read_view *now;
    bool is_same;

    if (read_view_is_newest(part->before))
        return STORE_OK;
    now = read_view_open(d->store, part->partition, d->access);
    is_same = read_view_instant(now) == read_view_instant(part->before);
    read_view_close(now);
    return is_same ? STORE_OK : STORE_CONFLICT;
}

/* Returns true if the space of a part was dropped. */
static bool has_dropped_space(const struct decision *d)
{
    unsigned i = 0;

    while (i < d->part_count && !is_dropped(d, &d->parts[i]))
        i++;
    return i < d->part_count;
}

enum store_result decision_confirm(const struct decision *d)
{
    enum store_result result = has_dropped_space(d) ? STORE_CONFLICT : STORE_OK;

    for (unsigned i = 0; i < d->part_count && !result; i++)
        result = decision_confirm_part(d, &d->parts[i]);
    return result;
}

void decision_move_parts(struct decision *to, struct decision *from)
{
    assert(to->part_count + from->part_count <= DECISION_PARTS_MAX);
    memcpy(&to->parts[to->part_count], from->parts, from->part_count * sizeof from->parts[0]);
    to->part_count += from->part_count;
    from->part_count = 0;
    assert_parts(to);
}

struct read_view *decision_take_snapshot(struct decision *d)
{
    struct read_view *snapshot = d->before;
    struct decision_part *part = subject_part(d);

    assert(part);
    *part = d->parts[--d->part_count];
    d->before = NULL;
    assert_parts(d);
    return snapshot;
}

/* Returns the newest instant in the parts. */
static instant newest_of(const struct decision *d)
{
    instant newest = 0;

    assert_parts(d);
    for (unsigned i = 0; i < d->part_count; i++)
        if (read_view_instant(d->parts[i].before) > newest)
            newest = read_view_instant(d->parts[i].before);
    return newest;
}

void decision_read_clock(struct decision *d)
{
    d->now = clock_above(newest_of(d));
}

void decision_keep_above(struct decision *d)
{
    instant newest = newest_of(d);

    if (newest >= d->now)
        d->now = clock_above(newest);
}

void decision_on_commit(struct decision *d, struct commit_callback *callback)
{
    callback->next = d->on_commit;
    d->on_commit = callback;
}

/* ---- permission ---- */

bool decision_rests_on_policy(const struct decision *d)
{
    const struct identity *identity = &d->input->identity;

    return identity->kind == IDENTITY_SAS && identity->sas->policy.ptr;
}

void decision_leave_owner(struct decision *d, struct decision_part *owner)
{
    if (!decision_rests_on_policy(d))
        decision_leave(d, owner);
}

enum store_result decision_index_get(struct decision *d, struct guid space, struct bytes key,
                                     struct bytes *ret_value)
{
    struct index_iterator *iterator =
        index_iterator_open(d->store, space, key, key, bytes_from_string(""), d->access);
    struct index_record record;
    enum store_result result = index_iterator_next(iterator, &record);

    if (!result && !bytes_equal(record.key, key))
        result = STORE_NOT_FOUND;
    if (!result)
        *ret_value = arena_copy(d->arena, record.value);
    decision_saw(d, index_iterator_sequence(iterator));
    index_iterator_close(iterator);
    return result;
}

/* ---- errors ---- */

void decision_defer_collection(struct decision *d)
{
    changes_defer(d->changes, d->now, TASK_COLLECT_CONTENT, bytes_of(NULL, 0));
}

enum error decision_fail(struct decision *d, enum error e, const char *format, ...)
{
    va_list args;

    assert(e != OK);
    va_start(args, format);
    d->problem->detail = arena_string(d->arena, arena_vprintf(d->arena, format, args));
    va_end(args);
    return e;
}

void decision_drop_changes(struct decision *d)
{
    struct decision_part *subject = subject_part(d);

    for (unsigned i = 0; i < d->part_count; i++)
        if (d->parts[i].changes)
            d->parts[i].changes = changes_new(d->arena);
    d->changes = subject ? subject->changes : changes_new(d->arena);
    assert(!d->changes || changes_empty(d->changes));
}

enum error decision_fail_store(struct decision *d, enum store_result result)
{
    decision_drop_changes(d);
    switch (result) {
    case STORE_NOT_FOUND:
        return decision_fail(d, E_ResourceNotFound, "What the request is about is gone.");
    case STORE_FULL:
        episode_refused(EPISODE_DISK);
        return decision_fail(d, E_InsufficientStorage, "The server's disk is full.");
    case STORE_SHORTAGE:
        /* an exhausted arena was reported by the memory budget */
        if (!arena_is_exhausted(d->arena))
            episode_refused(EPISODE_SHORTAGE);
        return E_ServerBusy;
    case STORE_BUSY: /* the container is being moved to another cell */
        return E_ServerBusy;
    case STORE_CORRUPT:
        if (has_dropped_space(d)) /* data is missing because it was dropped with the space */
            return DECIDE_AGAIN;
        decision_saw_failure(d);
        return decision_fail(d, E_InternalError,
                             "Stored data is damaged; the server's log says where.");
    case STORE_IO:
        decision_saw_failure(d);
        return decision_fail(d, E_InternalError, "The server's disk failed; see its log.");
    case STORE_WAIT:
        return DECIDE_BLOCKING;
    case STORE_CONFLICT:
        return DECIDE_AGAIN;
    case STORE_OK:
        break;
    }
    assert(false); /* results that callers must handle themselves */
    return E_InternalError;
}

enum error decision_take_back(struct decision *d, enum error e)
{
    assert(e != OK);
    decision_drop_changes(d);
    return e;
}

enum error decision_fail_content(struct decision *d, enum store_result result)
{
    return decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CORRUPT : result);
}
