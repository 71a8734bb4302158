/* Errors, progress and rate limit of an operation. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backup/backup_private.h"
#include "base/clock.h"
#include "base/thread.h"

#define NS_PER_SECOND 1000000000ull

static void say(struct backup_work *work, const char *format, va_list args)
{
    if (!work->problem[0])
        vsnprintf(work->problem, sizeof work->problem, format, args);
}

bool work_fail(struct backup_work *work, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(work, format, args);
    va_end(args);
    return false;
}

bool work_fail_errno(struct backup_work *work, const char *format, ...)
{
    int error = errno;
    char words[BACKUP_PROBLEM_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    return work_fail(work, "%s: %s", words, strerror(error));
}

void work_begin(struct backup_work *work)
{
    work->began_ns = clock_monotonic_ns();
    work->problem[0] = '\0';
}

/* Sleeps as long as more bytes have been read than the rate limit allows. */
static void keep_pace(const struct backup_work *work)
{
    uint64_t now = clock_monotonic_ns();
    uint64_t due = work->began_ns + (uint64_t)((double)work->progress.bytes / (double)work->rate *
                                               (double)NS_PER_SECOND);

    if (due > now)
        thread_sleep_ns(due - now);
}

static bool ask(struct backup_work *work)
{
    return !work->step || work->step(work) || work_fail(work, "it was cancelled");
}

bool work_read(struct backup_work *work, uint64_t bytes)
{
    work->progress.bytes += bytes;
    if (work->rate > 0)
        keep_pace(work);
    return ask(work);
}

bool work_file(struct backup_work *work)
{
    work->progress.files++;
    return ask(work);
}
