/* The list of things to do later. */
#include "store/later.h"

#include <assert.h>
#include <stdlib.h>

#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"
#include "store/store_private.h"

#define ITEM_VERSION  1
#define MARK_STEP     (60 * TICKS_PER_SECOND)
#define ITEM_KEY_SIZE (1 + 8 + 16)

void later_init(struct later *later)
{
    pthread_rwlockattr_t attributes;
    int failed = pthread_rwlockattr_init(&attributes);

    /* Those who add are many and quick: the one who looks must not wait for a gap between them. */
    failed = failed || pthread_rwlockattr_setkind_np(&attributes,
                                                     PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    failed = failed || pthread_rwlock_init(&later->adding, &attributes);
    assert(!failed);
    pthread_rwlockattr_destroy(&attributes);
    lock_init(&later->lock, RANK_LATER);
    later->floor = later->mark = later->stored_mark = 0;
    later->earliest = INSTANT_MAX;
    later->waiter = NULL;
}

void later_begin_at(struct later *later, instant mark)
{
    later->floor = later->mark = later->stored_mark = mark;
}

void later_release(struct later *later)
{
    assert(!later->waiter);
    lock_release(&later->lock);
    pthread_rwlock_destroy(&later->adding);
}

void later_enter(struct later *later)
{
    pthread_rwlock_rdlock(&later->adding);
}

void later_leave(struct later *later)
{
    pthread_rwlock_unlock(&later->adding);
}

static void set_item_key(struct key *key, instant due, const struct guid *id)
{
    char full[ITEM_KEY_SIZE];

    full[0] = KEY_KIND_LATER;
    be64_put(full + 1, due);
    memcpy(full + 9, id->b, sizeof id->b);
    key_set_raw(key, bytes_of(full, sizeof full));
}

instant later_item_rows(const struct later *later, const struct later_change *change,
                        struct bytes partition_prefix, struct key *key, struct text *value)
{
    instant due = change->due > later->floor ? change->due : later->floor;

    set_item_key(key, due, &change->id);
    encode_u8(value, ITEM_VERSION);
    encode_u64(value, change->kind);
    encode_bytes(value, change->payload);
    text_add(value, bytes_from(partition_prefix, 1));
    return due;
}

void later_done_key(const struct later_change *change, struct key *key)
{
    set_item_key(key, change->due, &change->id);
}

void later_added(struct later *later, instant due)
{
    struct waiter *waiter = NULL;

    lock_take(&later->lock);
    if (due < later->earliest)
        later->earliest = due;
    if (later->waiter && due < later->waited_for) {
        waiter = later->waiter;
        later->waiter = NULL;
    }
    lock_give(&later->lock);
    if (waiter)
        waiter->wake(waiter);
}

/* If the row is not written after all, the next one will be. */
bool later_mark_row(struct later *later, struct key *key, char ret_value[8])
{
    static const char kind = KEY_KIND_LATER_MARK;
    bool is_due;

    lock_take(&later->lock);
    is_due = later->mark >= later->stored_mark + MARK_STEP;
    if (is_due) {
        later->stored_mark = later->mark;
        key_set_raw(key, bytes_of(&kind, 1));
        be64_put(ret_value, later->mark);
    }
    lock_give(&later->lock);
    return is_due;
}

static enum store_result read_item(const struct cursor *cursor, struct arena *arena,
                                   struct later_item *ret_item)
{
    struct bytes value = arena_copy(arena, cursor->value);
    struct later_item item;
    struct decoder from;
    struct bytes rest;

    decoder_init(&from, value);
    if (cursor->key.len != ITEM_KEY_SIZE || decode_u8(&from) != ITEM_VERSION)
        return STORE_CORRUPT;
    item.due = be64_get(cursor->key.ptr + 1);
    memcpy(item.id.b, cursor->key.ptr + 9, sizeof item.id.b);
    item.kind = (uint32_t)decode_u64(&from);
    item.payload = decode_bytes(&from);
    rest = bytes_of(from.at, (size_t)(from.end - from.at));
    if (from.bad || rest.len < sizeof item.partition.space.b + 2)
        return STORE_CORRUPT;
    memcpy(item.partition.space.b, rest.ptr, sizeof item.partition.space.b);
    rest = bytes_from(rest, sizeof item.partition.space.b);
    rest.len -= 2; /* the end of an escaped key */
    item.partition.key = rest;
    if (rest.len > 0) {
        char *key = arena_bytes(arena, rest.len);

        item.partition.key.ptr = key;
        if (!key_unescape(rest, key, &item.partition.key.len))
            return STORE_CORRUPT;
    }
    *ret_item = item;
    return STORE_OK;
}

/* Nobody adds anything below the floor that this returns, from now on; what was added before is
 * there to be seen. */
static instant raise_floor(struct later *later, instant now)
{
    instant floor;

    pthread_rwlock_wrlock(&later->adding);
    if (now > later->floor)
        later->floor = now;
    floor = later->floor;
    pthread_rwlock_unlock(&later->adding);
    return floor;
}

/* Where to begin to look at the front. */
static instant begin_look(struct later *later)
{
    instant mark;

    lock_take(&later->lock);
    later->earliest = INSTANT_MAX;
    mark = later->mark;
    lock_give(&later->lock);
    return mark;
}

static void raise_mark(struct later *later, instant mark)
{
    lock_take(&later->lock);
    if (mark > later->mark)
        later->mark = mark;
    lock_give(&later->lock);
}

static struct cursor *look(struct store *store, const struct key *from,
                           enum store_result *ret_result)
{
    static const char end = KEY_KIND_LATER + 1;
    struct cursor *cursor = store->operations->row_cursor(store, bytes_of(&end, 1));

    *ret_result = cursor->store->operations->cursor_seek(cursor, key_bytes(from));
    return cursor;
}

enum store_result store_later_next(struct store *store, instant now, const struct later_item *after,
                                   struct arena *arena, struct later_item *ret_item,
                                   instant *ret_due)
{
    static const struct guid first = { { 0 } };
    struct later *later = store->later;
    instant floor = raise_floor(later, now);
    struct cursor *cursor;
    struct later_item item;
    enum store_result result;
    struct key from;

    *ret_due = INSTANT_MAX;
    key_init(&from);
    if (after) {
        set_item_key(&from, after->due, &after->id);
        key_set_next(&from);
    } else {
        set_item_key(&from, begin_look(later), &first);
    }
    cursor = look(store, &from, &result);
    key_release(&from);
    if (!result)
        result = read_item(cursor, arena, &item);
    cursor->store->operations->cursor_close(cursor);
    if (result == STORE_CORRUPT)
        log_line(LOG_ERROR, "store: an item of the list of things to do later is damaged");
    if (result && result != STORE_NOT_FOUND)
        return result;
    if (!after)
        raise_mark(later, !result && item.due < floor ? item.due : floor);
    if (result)
        return STORE_NOT_FOUND;
    if (item.due > now) {
        *ret_due = item.due;
        return STORE_NOT_FOUND;
    }
    *ret_item = item;
    return STORE_OK;
}

void store_later_wait(struct store *store, instant due, struct waiter *waiter)
{
    struct later *later = store->later;
    bool is_added;

    lock_take(&later->lock);
    assert(!later->waiter);
    is_added = later->earliest < due;
    if (!is_added) {
        later->waiter = waiter;
        later->waited_for = due;
    }
    lock_give(&later->lock);
    if (is_added)
        waiter->wake(waiter);
}

bool store_later_forget(struct store *store, struct waiter *waiter)
{
    struct later *later = store->later;
    bool was_waiting;

    lock_take(&later->lock);
    was_waiting = later->waiter == waiter;
    if (was_waiting)
        later->waiter = NULL;
    lock_give(&later->lock);
    return was_waiting;
}

enum store_result store_later_discard(struct store *store, const struct later_item *item)
{
    enum store_result result;
    struct key key;

    key_init(&key);
    set_item_key(&key, item->due, &item->id);
    result = store->operations->delete_row(store, key_bytes(&key));
    key_release(&key);
    return result;
}
