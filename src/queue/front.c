/* The low-water mark: see front.h. */
#include "queue/front.h"

#include "service/small_record.h"

static const struct bytes record_key = BYTES("w");

enum { MARK, BUSY_UNTIL, WRITTEN, NUMBERS };

enum store_result front_read(struct read_view *before, struct arena *arena, struct front *ret_front)
{
    uint64_t numbers[NUMBERS];
    enum store_result result =
        small_record_read(before, arena, record_key, "a queue's low-water mark", numbers, NUMBERS);

    *ret_front = (struct front){ .mark = numbers[MARK],
                                 .busy_until = numbers[BUSY_UNTIL],
                                 .written = numbers[WRITTEN] };
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static void write_front(struct decision *d, const struct front *front)
{
    const uint64_t numbers[NUMBERS] = { front->mark, front->busy_until, front->written };

    small_record_write(d->changes, d->arena, record_key, numbers, NUMBERS);
}

void front_advance(struct decision *d, const struct front *front, instant mark)
{
    struct front moved = { .mark = mark,
                           .busy_until = message_now(d) + FRONT_BUSY_S * TICKS_PER_SECOND };

    if (mark > front->mark && d->now % FRONT_EVERY == 0)
        write_front(d, &moved);
}

void front_found_empty(struct decision *d, const struct front *front)
{
    instant now = message_now(d),
            changed = store_time_passed(d->store, read_view_instant(d->before));
    struct front moved = { .mark = now, .busy_until = front->busy_until, .written = now };

    if (changed > front->written)
        moved.busy_until = changed + FRONT_BUSY_S * TICKS_PER_SECOND;
    if (now >= front->mark + FRONT_IDLE_S * TICKS_PER_SECOND && front->mark < moved.busy_until)
        write_front(d, &moved);
}
