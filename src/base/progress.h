/* Prints the progress of a long operation: on a terminal as a line that is updated in place,
 * otherwise as a line of JSON each second. For one thread. */
#ifndef LAGRA_BASE_PROGRESS_H
#define LAGRA_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *items;           /* name of the counted items: "files" */
    bool json;                   /* print lines on stdout instead of one line on stderr */
    uint64_t began_ms, shown_ms; /* CLOCK_MONOTONIC */
};
struct progress_count {
    uint64_t items, items_total; /* total: 0 if unknown */
    uint64_t bytes, bytes_total;
};

/* items: static string, see above. json: print JSON even on a terminal */
void progress_begin(struct progress *progress, const char *items, bool json);
/* Prints the progress, unless that was done a moment ago. */
void progress_show(struct progress *progress, const struct progress_count *count);
/* Erases the line on the terminal. */
void progress_end(const struct progress *progress);
uint64_t progress_ms(const struct progress *progress);

/* Formats a number of bytes: "1.2 GiB". */
#define PROGRESS_BYTES_SIZE 16
void progress_bytes(uint64_t bytes, char text[PROGRESS_BYTES_SIZE]);

#endif
