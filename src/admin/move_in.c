/* See move_in.h. */
#include "admin/move_in.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/codec.h"
#include "base/lock.h"
#include "base/log.h"
#include "service/server.h"

#define VERSION               2
#define COPIES_MAX            8u
#define QUIET_MS              60000u
/* Maximum difference of the clocks. If the destination's clock is behind, it is advanced, so its
 * leases and message timeouts end early by the difference; if it is ahead, those of the moved
 * container end early. */
#define CLOCK_DIFFERENCE_MAX  ((uint64_t)TICKS_PER_SECOND)
/* Maximum difference between the cells in the total of the clock steps that each has followed. The
 * times of messages exclude these steps, so messages would become visible too early or too late by
 * the difference. */
#define PASSED_DIFFERENCE_MAX ((uint64_t)TICKS_PER_SECOND)

struct copy {
    struct restore *restore; /* NULL if the slot is free */
    bool is_taken;           /* in use by a thread */
};
static struct {
    struct lock lock;
    struct copy copies[COPIES_MAX]; /* under lock */
} held;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
    lock_init(&held.lock, RANK_BACKUP_HOLD);
}

/* ---- slots ---- */

/* Acquires the copy with this id. Returns NULL if it does not exist or is in use. */
static struct copy *take(const struct guid *id)
{
    struct copy *found = NULL;

    pthread_once(&once, init);
    lock_acquire(&held.lock);
    for (size_t i = 0; i < COPIES_MAX && !found; i++)
        if (held.copies[i].restore && !held.copies[i].is_taken &&
            guid_equal(&held.copies[i].restore->id, id))
            found = &held.copies[i];
    if (found)
        found->is_taken = true;
    lock_release(&held.lock);
    return found;
}

/* Acquires a free slot, or one with an abandoned copy. Returns NULL if none exists. Sets *ret_old
 * to the abandoned copy, which the caller frees, or NULL */
static struct copy *take_free(struct restore **ret_old)
{
    uint64_t now = clock_monotonic_ms();
    struct copy *found = NULL;

    pthread_once(&once, init);
    lock_acquire(&held.lock);
    for (size_t i = 0; i < COPIES_MAX && !found; i++) {
        struct copy *copy = &held.copies[i];

        if (!copy->is_taken && (!copy->restore || now - copy->restore->heard_ms > QUIET_MS))
            found = copy;
    }
    *ret_old = found ? found->restore : NULL;
    if (found)
        *found = (struct copy){ .restore = NULL, .is_taken = true };
    lock_release(&held.lock);
    return found;
}

/* Releases a copy. restore: NULL if the copy has ended */
static void give(struct copy *copy, struct restore *restore)
{
    if (restore)
        restore->heard_ms = clock_monotonic_ms();
    lock_acquire(&held.lock);
    *copy = (struct copy){ .restore = restore };
    lock_release(&held.lock);
}

void move_in_stop(void)
{
    for (size_t i = 0; i < COPIES_MAX; i++) {
        if (held.copies[i].restore)
            restore_free(held.copies[i].restore, false);
        held.copies[i] = (struct copy){ .restore = NULL };
    }
}

/* ---- requests ---- */

struct beginning {
    const struct endpoint *endpoint;
    struct bytes account, name;
    uint64_t now, passed;
};

static bool read_beginning(const struct endpoint_set *all, struct bytes body,
                           struct beginning *ret_begin)
{
    struct decoder in;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    ret_begin->endpoint = endpoint_find(all, decode_bytes(&in));
    ret_begin->account = decode_bytes(&in);
    ret_begin->name = decode_bytes(&in);
    ret_begin->now = decode_u64(&in);
    ret_begin->passed = decode_u64(&in);
    return decoder_ok(&in) && ret_begin->endpoint && ret_begin->account.len > 0 &&
           ret_begin->name.len > 0;
}

/* Advances the clock of this cell, so that later decisions are newer than all copied data. now,
 * passed: times of the source */
static bool follow_clock(const struct endpoint *endpoint, uint64_t now, uint64_t passed)
{
    uint64_t own, difference;

    if (now > clock_now() + CLOCK_DIFFERENCE_MAX || passed > now)
        return false;
    clock_not_before(now);
    own = store_time_passed(endpoint->store, now);
    difference = own > passed ? own - passed : passed - own;
    return !endpoint->service->restore->has_passed_times || difference <= PASSED_DIFFERENCE_MAX;
}

int move_begin_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct beginning begin;
    struct restore *restore, *old;
    struct copy *copy;

    (void)arena;
    if (!read_beginning(context, body, &begin))
        return 400;
    if (begin.now + CLOCK_DIFFERENCE_MAX < clock_now() ||
        !follow_clock(begin.endpoint, begin.now, begin.passed))
        return 409;
    copy = take_free(&old);
    if (!copy)
        return 503;
    if (old)
        restore_free(old, false);
    if (!restore_begin(begin.endpoint, begin.account, begin.name, false, &restore) ||
        !store_hold_space(begin.endpoint->store, restore->space)) {
        restore_free(restore, false);
        give(copy, NULL);
        return 503;
    }
    restore->is_move = true;
    encode_u8(ret_body, VERSION);
    encode_fixed(ret_body, restore->id.b, sizeof restore->id.b);
    encode_fixed(ret_body, restore->space.b, sizeof restore->space.b);
    encode_fixed(ret_body, restore->task.id.b, sizeof restore->task.id.b);
    encode_u64(ret_body, restore->task.due);
    give(copy, restore);
    return 200;
}

static struct copy *take_named(struct bytes *body)
{
    struct guid id;

    if (body->len < sizeof id.b)
        return NULL;
    memcpy(id.b, body->ptr, sizeof id.b);
    *body = bytes_from(*body, sizeof id.b);
    return take(&id);
}

int move_put_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct copy *copy = take_named(&body);
    struct restore *restore;
    bool is_put;

    (void)context;
    (void)arena;
    (void)ret_body;
    if (!copy)
        return 404;
    restore = copy->restore;
    is_put = restore_put(restore, body);
    if (!is_put) {
        log_line(LOG_ERROR, "a container cannot be moved here: %s", restore->problem);
        restore_free(restore, false);
    }
    give(copy, is_put ? restore : NULL);
    return is_put ? 200 : 500;
}

int move_end_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct copy *copy = take_named(&body);
    struct restore *restore;
    struct decoder in;
    uint64_t now, passed;
    bool is_complete;

    (void)context;
    (void)arena;
    (void)ret_body;
    if (!copy)
        return 404;
    restore = copy->restore;
    decoder_init(&in, body);
    now = decode_u64(&in);
    passed = decode_u64(&in);
    is_complete = decoder_ok(&in) && follow_clock(restore->endpoint, now, passed) &&
                  restore_complete(restore);
    restore_free(restore, is_complete); /* if not published, its task would drop the space */
    give(copy, NULL);
    return is_complete ? 200 : 500;
}
