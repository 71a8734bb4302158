/* Prints progress: see progress.h. */
#include "base/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define TERMINAL_EVERY_MS 200
#define LINE_EVERY_MS     1000

void progress_begin(struct progress *progress, const char *items, bool json)
{
    *progress = (struct progress){ .items = items,
                                   .json = json || !isatty(STDERR_FILENO),
                                   .began_ms = clock_monotonic_ms() };
}

void progress_bytes(uint64_t bytes, char text[PROGRESS_BYTES_SIZE])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double shown = (double)bytes;
    unsigned unit = 0;

    for (; shown >= 1000 && unit < 6; unit++)
        shown /= 1024;
    snprintf(text, PROGRESS_BYTES_SIZE, "%.*f %s", unit > 0 ? 1 : 0, shown, units[unit]);
}

uint64_t progress_ms(const struct progress *progress)
{
    return clock_monotonic_ms() - progress->began_ms;
}

static void print_line(const char *items, const struct progress_count *count, uint64_t rate,
                       uint64_t left_s)
{
    char done[PROGRESS_BYTES_SIZE], total[PROGRESS_BYTES_SIZE], second[PROGRESS_BYTES_SIZE];

    progress_bytes(count->bytes, done);
    progress_bytes(count->bytes_total, total);
    progress_bytes(rate, second);
    fprintf(stderr, "\r\033[K%" PRIu64, count->items);
    if (count->items_total > 0)
        fprintf(stderr, " of %" PRIu64, count->items_total);
    fprintf(stderr, " %s, %s of %s, %s/s, %" PRIu64 " s left", items, done, total, second, left_s);
    fflush(stderr);
}

static void print_json(const struct progress_count *count, uint64_t rate, uint64_t left_s)
{
    printf("{\"items\":%" PRIu64 ",\"itemsTotal\":%" PRIu64 ",\"bytes\":%" PRIu64
           ",\"bytesTotal\":%" PRIu64 ",\"bytesPerSecond\":%" PRIu64 ",\"secondsLeft\":%" PRIu64
           "}\n",
           count->items, count->items_total, count->bytes, count->bytes_total, rate, left_s);
    fflush(stdout);
}

void progress_show(struct progress *progress, const struct progress_count *count)
{
    uint64_t now = clock_monotonic_ms(), passed = now - progress->began_ms;
    uint64_t every = progress->json ? LINE_EVERY_MS : TERMINAL_EVERY_MS;
    uint64_t rate = passed > 0 ? count->bytes * 1000 / passed : 0;
    uint64_t left = count->bytes_total > count->bytes ? count->bytes_total - count->bytes : 0;
    uint64_t left_s = rate > 0 ? left / rate : 0;

    if (passed < every || now - progress->shown_ms < every)
        return;
    progress->shown_ms = now;
    if (progress->json)
        print_json(count, rate, left_s);
    else
        print_line(progress->items, count, rate, left_s);
}

void progress_end(const struct progress *progress)
{
    if (!progress->json && progress->shown_ms > 0)
        fprintf(stderr, "\r\033[K");
}
