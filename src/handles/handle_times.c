/* Updates a file's times for writes through a handle, and maintains the times that the handle
 * shows. MS-FSA 2.1.5.4, 2.1.5.15.2; decision: 357 */
#include "handles/handle_private.h"

/* Time after its first write for which a handle shows the old last write time */
#define SHOWN_BEFORE_TICKS (2 * TICKS_PER_SECOND)

static bool is_over(const struct handle_times *times, instant now)
{
    return times->shown_until > 0 && now >= times->shown_until;
}

/* Records a write. After its first write, the handle shows the previous last write time for
 * SHOWN_BEFORE_TICKS. After the next write, it shows the time before that write until it
 * flushes, sets information or closes. */
static void note_write(struct handle_times *times, instant before, instant now)
{
    if (!times->has_written) {
        times->shown_written = before;
        times->shown_until = now + SHOWN_BEFORE_TICKS;
    } else if (is_over(times, now)) {
        times->shown_written = before;
        times->shown_until = 0;
    }
    times->has_written = true;
}

void handle_times_written(const struct decision *d, struct handle_times *times, struct file *file)
{
    if (!times->keeps_written) {
        note_write(times, file->written, d->now);
        file->written = d->now;
    }
    if (!times->keeps_changed)
        file->changed = d->now;
}

void handle_times_shown(struct handle_times *times)
{
    times->shown_written = times->shown_until = 0;
    times->has_written = false;
}

bool handle_times_closed(const struct decision *d, struct handle_times *times, struct file *file)
{
    bool wrote_again = times->shown_written > 0 && times->shown_until == 0 && !times->keeps_written;

    handle_times_shown(times);
    if (wrote_again)
        file->written = d->now;
    return wrote_again;
}

instant handle_times_of(const struct decision *d, const struct handle_times *times,
                        const struct file *file)
{
    return times->shown_written > 0 && !is_over(times, d->now) ? times->shown_written
                                                               : file->written;
}
