/* A sorted array of records between two keys. */
#include "store/embedded/front_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

static struct front_record *new_record(struct bytes key, struct bytes value)
{
    struct front_record *record = xmalloc(sizeof *record + key.len + value.len);

    *record = (struct front_record){ key.len, value.len };
    memcpy(record->bytes, key.ptr, key.len);
    if (value.len > 0)
        memcpy(record->bytes + key.len, value.ptr, value.len);
    return record;
}

static void set_key(struct front_record **at, struct bytes key)
{
    struct front_record *before = *at;

    *at = new_record(key, bytes_of(NULL, 0)); /* the key may be in the old one */
    free(before);
}

static bool covers(const struct front_cache *front, struct bytes key)
{
    return front->low && bytes_compare(key, front_key(front->low)) >= 0 &&
           bytes_compare(key, front_key(front->high)) < 0;
}

/* Asserts that the records are between the two keys. */
static void assert_front(const struct front_cache *front)
{
    assert(!front->low == !front->high && (front->low || front->count == 0));
    assert(front->count <= FRONT_RECORDS_MAX);
    assert(front->count == 0 || (covers(front, front_key(front->records[0])) &&
                                 covers(front, front_key(front->records[front->count - 1]))));
}

/* Returns the index of the first record at or after the key. */
static unsigned place_of(const struct front_cache *front, struct bytes key)
{
    unsigned low = 0, high = front->count;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (bytes_compare(front_key(front->records[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool holds(const struct front_cache *front, unsigned place, struct bytes key)
{
    return place < front->count && bytes_equal(front_key(front->records[place]), key);
}

enum front_answer front_get(const struct front_cache *front, struct bytes key,
                            const struct front_record **ret_record)
{
    unsigned place;

    if (!covers(front, key))
        return FRONT_UNKNOWN;
    place = place_of(front, key);
    if (!holds(front, place, key))
        return FRONT_NONE;
    *ret_record = front->records[place];
    return FRONT_HELD;
}

enum front_answer front_first(const struct front_cache *front, struct bytes from,
                              const struct front_record **ret_record, struct bytes *ret_from)
{
    unsigned place;

    *ret_from = bytes_of(NULL, 0);
    if (!covers(front, from))
        return FRONT_UNKNOWN;
    place = place_of(front, from);
    if (place == front->count) {
        *ret_from = front_key(front->high);
        return FRONT_UNKNOWN;
    }
    *ret_record = front->records[place];
    return FRONT_HELD;
}

static void take_out(struct front_cache *front, unsigned place)
{
    assert(place < front->count);
    free(front->records[place]);
    front->count--;
    memmove(&front->records[place], &front->records[place + 1],
            (front->count - place) * sizeof front->records[0]);
}

/* Ends the range before this key, which has this index. */
static void cut(struct front_cache *front, unsigned place, struct bytes key)
{
    set_key(&front->high, key);
    while (front->count > place)
        free(front->records[--front->count]);
}

static void put(struct front_cache *front, unsigned place, struct bytes key, struct bytes value)
{
    unsigned last = FRONT_RECORDS_MAX - 1;

    if (key.len + value.len > FRONT_RECORD_BYTES_MAX || place > last) {
        cut(front, place, key);
        return;
    }
    if (front->count > last)
        cut(front, last, front_key(front->records[last]));
    memmove(&front->records[place + 1], &front->records[place],
            (front->count - place) * sizeof front->records[0]);
    front->records[place] = new_record(key, value);
    front->count++;
    assert(front->count <= FRONT_RECORDS_MAX);
}

void front_change(struct front_cache *front, struct bytes key, struct bytes value)
{
    unsigned place;

    if (!covers(front, key))
        return;
    place = place_of(front, key);
    if (holds(front, place, key))
        take_out(front, place);
    if (value.ptr)
        put(front, place, key, value);
    assert_front(front);
}

void front_begin(struct front_cache *run, struct bytes from)
{
    *run = (struct front_cache){ .count = 0 };
    set_key(&run->low, from);
    set_key(&run->high, from);
}

bool front_append(struct front_cache *run, struct bytes key, struct bytes value)
{
    if (run->count == FRONT_RECORDS_MAX || key.len + value.len > FRONT_RECORD_BYTES_MAX)
        return false;
    run->records[run->count++] = new_record(key, value);
    return true;
}

void front_end(struct front_cache *run, struct bytes high)
{
    set_key(&run->high, high);
}

void front_join(struct front_cache *front, struct front_cache *run)
{
    bool goes_on = front->low && bytes_equal(front_key(front->high), front_key(run->low)) &&
                   front->count + run->count <= FRONT_RECORDS_MAX;
    struct front_cache before = *front;

    if (!goes_on) {
        *front = *run;
        *run = before;
    } else {
        memcpy(&front->records[front->count], run->records, run->count * sizeof run->records[0]);
        front->count += run->count;
        front->high = run->high;
        run->high = before.high;
        run->count = 0;
    }
    front_empty(run);
    assert_front(front);
}

void front_empty(struct front_cache *front)
{
    while (front->count > 0)
        free(front->records[--front->count]);
    free(front->low);
    free(front->high);
    front->low = front->high = NULL;
}

void front_free(struct front_cache *front)
{
    if (front)
        front_empty(front);
    free(front);
}
