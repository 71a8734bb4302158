/* See deferred.h. */
#include "store/deferred.h"

#include <assert.h>
#include <stdlib.h>

#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"
#include "store/store_private.h"

#define TASK_VERSION  1
#define MARK_STEP     (60 * TICKS_PER_SECOND)
#define TASK_KEY_SIZE (1 + 8 + 16)

/* Caller holds the lock. */
static void assert_deferred(const struct deferred *deferred)
{
    lock_assert_held(&deferred->lock);
    assert(deferred->stored_mark <= deferred->mark);
    assert(!deferred->waiter || deferred->earliest >= deferred->waited_for);
}

static void must(int error)
{
    assert(error == 0);
}

void deferred_init(struct deferred *deferred)
{
    pthread_rwlockattr_t attributes;
    int failed = pthread_rwlockattr_init(&attributes);

    /* Many commits add tasks, each for a short time. The runner, which takes the lock exclusively,
     * must not have to wait for a gap between them. */
    failed = failed || pthread_rwlockattr_setkind_np(&attributes,
                                                     PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    failed = failed || pthread_rwlock_init(&deferred->adding, &attributes);
    assert(!failed);
    pthread_rwlockattr_destroy(&attributes);
    lock_init(&deferred->lock, RANK_DEFERRED);
    deferred->floor = deferred->mark = deferred->stored_mark = 0;
    deferred->earliest = INSTANT_MAX;
    deferred->waiter = NULL;
}

void deferred_begin_at(struct deferred *deferred, instant mark)
{
    deferred->floor = deferred->mark = deferred->stored_mark = mark;
}

void deferred_return(struct deferred *deferred)
{
    lock_acquire(&deferred->lock);
    deferred->mark = deferred->stored_mark = 0;
    deferred->returns++;
    lock_release(&deferred->lock);
    deferred_added(deferred, 0);
}

void deferred_release(struct deferred *deferred)
{
    assert(!deferred->waiter);
    lock_destroy(&deferred->lock);
    must(pthread_rwlock_destroy(&deferred->adding));
}

void deferred_enter(struct deferred *deferred)
{
    must(pthread_rwlock_rdlock(&deferred->adding));
}

void deferred_leave(struct deferred *deferred)
{
    must(pthread_rwlock_unlock(&deferred->adding));
}

static void set_task_key(struct key *key, instant due, const struct guid *id)
{
    char full[TASK_KEY_SIZE];

    full[0] = KEY_KIND_TASK;
    be64_put(full + 1, due);
    memcpy(full + 9, id->b, sizeof id->b);
    key_set_raw(key, bytes_of(full, sizeof full));
}

instant deferred_task_rows(const struct deferred *deferred, const struct task_change *change,
                           struct bytes partition_prefix, struct key *key, struct text *value)
{
    instant due = change->due > deferred->floor ? change->due : deferred->floor;

    assert(!change->is_done && partition_prefix.len > KEY_SPACE_SIZE);
    set_task_key(key, due, &change->id);
    encode_u8(value, TASK_VERSION);
    encode_u64(value, change->kind);
    encode_bytes(value, change->payload);
    text_add(value, bytes_from(partition_prefix, 1));
    return due;
}

void deferred_done_key(const struct task_change *change, struct key *key)
{
    assert(change->is_done);
    set_task_key(key, change->due, &change->id);
}

void deferred_added(struct deferred *deferred, instant due)
{
    struct waiter *waiter = NULL;

    lock_acquire(&deferred->lock);
    if (due < deferred->earliest)
        deferred->earliest = due;
    if (deferred->waiter && due < deferred->waited_for) {
        waiter = deferred->waiter;
        deferred->waiter = NULL;
    }
    assert_deferred(deferred);
    lock_release(&deferred->lock);
    if (waiter)
        waiter->wake(waiter);
}

/* If the caller fails to write the row, a later row replaces it. */
bool deferred_mark_row(struct deferred *deferred, struct key *key, char ret_value[8])
{
    static const char kind = KEY_KIND_TASK_MARK;
    bool is_due;

    lock_acquire(&deferred->lock);
    is_due = deferred->mark >= deferred->stored_mark + MARK_STEP;
    if (is_due) {
        deferred->stored_mark = deferred->mark;
        key_set_raw(key, bytes_of(&kind, 1));
        be64_put(ret_value, deferred->mark);
    }
    assert_deferred(deferred);
    lock_release(&deferred->lock);
    return is_due;
}

bool deferred_read_row(struct bytes key, struct bytes value, struct task_row *ret_row)
{
    struct decoder from;

    decoder_init(&from, value);
    if (key.len != TASK_KEY_SIZE || key.ptr[0] != KEY_KIND_TASK || decode_u8(&from) != TASK_VERSION)
        return false;
    ret_row->due = be64_get(key.ptr + 1);
    memcpy(ret_row->id.b, key.ptr + 9, sizeof ret_row->id.b);
    ret_row->kind = (uint32_t)decode_u64(&from);
    ret_row->payload = decode_bytes(&from);
    decode_fixed(&from, ret_row->space.b, sizeof ret_row->space.b);
    if (from.bad || from.end - from.at < 2)
        return false;
    /* without the terminator of the escaped key */
    ret_row->escaped = bytes_of((const char *)from.at, (size_t)(from.end - from.at) - 2);
    return true;
}

static enum store_result read_task(const struct cursor *cursor, struct arena *arena,
                                   struct deferred_task *ret_task)
{
    struct deferred_task task;
    struct task_row row;
    char *key;

    if (!deferred_read_row(cursor->key, arena_copy(arena, cursor->value), &row))
        return STORE_CORRUPT;
    task = (struct deferred_task){ .due = row.due,
                                   .kind = row.kind,
                                   .partition.space = row.space,
                                   .payload = row.payload,
                                   .id = row.id };
    key = arena_bytes(arena, row.escaped.len + 1);
    task.partition.key.ptr = key;
    if (!key_unescape(row.escaped, key, &task.partition.key.len))
        return STORE_CORRUPT;
    *ret_task = task;
    return STORE_OK;
}

/* Raises the floor and returns it. Afterwards no task is added below it, and all tasks added
 * before are visible. */
static instant raise_floor(struct deferred *deferred, instant now)
{
    instant floor;

    must(pthread_rwlock_wrlock(&deferred->adding));
    if (now > deferred->floor)
        deferred->floor = now;
    floor = deferred->floor;
    must(pthread_rwlock_unlock(&deferred->adding));
    assert(floor >= now);
    return floor;
}

/* Returns where a scan of the front starts. *ret_returns: argument for raise_mark() */
static instant begin_look(struct deferred *deferred, unsigned *ret_returns)
{
    instant mark;

    lock_acquire(&deferred->lock);
    deferred->earliest = INSTANT_MAX;
    mark = deferred->mark;
    *ret_returns = deferred->returns;
    assert_deferred(deferred);
    lock_release(&deferred->lock);
    return mark;
}

/* Raises the mark, unless the list was replaced during the scan. */
static void raise_mark(struct deferred *deferred, unsigned returns, instant mark)
{
    lock_acquire(&deferred->lock);
    if (mark > deferred->mark && returns == deferred->returns)
        deferred->mark = mark;
    assert_deferred(deferred);
    lock_release(&deferred->lock);
}

static struct cursor *look(struct store *store, const struct key *from,
                           enum store_result *ret_result)
{
    static const char end = KEY_KIND_TASK + 1;
    struct cursor *cursor = store->operations->row_cursor(store, bytes_of(&end, 1));

    *ret_result = cursor->store->operations->cursor_seek(cursor, key_bytes(from));
    return cursor;
}

/* Reads the first task at or after that key. */
static enum store_result read_first(struct store *store, struct key *from, struct arena *arena,
                                    struct deferred_task *ret_task)
{
    enum store_result result;
    struct cursor *cursor = look(store, from, &result);

    key_release(from);
    if (!result)
        result = read_task(cursor, arena, ret_task);
    cursor->store->operations->cursor_close(cursor);
    if (result == STORE_CORRUPT)
        log_line(LOG_ERROR, "store: a deferred task is corrupt");
    return result;
}

enum store_result store_task_next(struct store *store, instant now,
                                  const struct deferred_task *after, struct arena *arena,
                                  struct deferred_task *ret_task, instant *ret_due)
{
    static const struct guid first = { { 0 } };
    struct deferred *deferred = store->deferred;
    instant floor = raise_floor(deferred, now);
    struct deferred_task task;
    enum store_result result;
    unsigned returns = 0;
    struct key from;

    *ret_due = INSTANT_MAX;
    key_init(&from);
    if (after) {
        set_task_key(&from, after->due, &after->id);
        key_set_next(&from);
    } else {
        set_task_key(&from, begin_look(deferred, &returns), &first);
    }
    result = read_first(store, &from, arena, &task);
    if (result && result != STORE_NOT_FOUND)
        return result;
    if (!after)
        raise_mark(deferred, returns, !result && task.due < floor ? task.due : floor);
    if (result)
        return STORE_NOT_FOUND;
    if (task.due > now) {
        *ret_due = task.due;
        return STORE_NOT_FOUND;
    }
    assert(task.due <= now);
    *ret_task = task;
    return STORE_OK;
}

enum store_result store_task_peek(struct store *store, const struct deferred_task *after,
                                  struct arena *arena, struct deferred_task *ret_task)
{
    static const struct guid first = { { 0 } };
    struct deferred *deferred = store->deferred;
    instant mark;
    struct key from;

    lock_acquire(&deferred->lock);
    mark = deferred->mark;
    lock_release(&deferred->lock);
    key_init(&from);
    set_task_key(&from, after ? after->due : mark, after ? &after->id : &first);
    if (after)
        key_set_next(&from);
    return read_first(store, &from, arena, ret_task);
}

void store_task_wait(struct store *store, instant due, struct waiter *waiter)
{
    struct deferred *deferred = store->deferred;
    bool is_added;

    lock_acquire(&deferred->lock);
    assert(!deferred->waiter);
    is_added = deferred->earliest < due;
    if (!is_added) {
        deferred->waiter = waiter;
        deferred->waited_for = due;
    }
    assert_deferred(deferred);
    lock_release(&deferred->lock);
    if (is_added)
        waiter->wake(waiter);
}

bool store_task_forget(struct store *store, struct waiter *waiter)
{
    struct deferred *deferred = store->deferred;
    bool was_waiting;

    lock_acquire(&deferred->lock);
    was_waiting = deferred->waiter == waiter;
    if (was_waiting)
        deferred->waiter = NULL;
    assert_deferred(deferred);
    lock_release(&deferred->lock);
    return was_waiting;
}

enum store_result store_task_discard(struct store *store, const struct deferred_task *task)
{
    enum store_result result;
    struct key key;

    key_init(&key);
    set_task_key(&key, task->due, &task->id);
    result = store->operations->delete_row(store, &task->partition.space, key_bytes(&key));
    key_release(&key);
    return result;
}
