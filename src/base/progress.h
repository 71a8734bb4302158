/* How far long work is: on a terminal one line that is written again and again, else JSON, a line each
 * second. One thread. */
#ifndef LAGRA_BASE_PROGRESS_H
#define LAGRA_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *items;           /* "files": what is counted */
    bool json;                   /* lines on stdout; else one line on stderr */
    uint64_t began_ms, shown_ms; /* CLOCK_MONOTONIC */
};
struct progress_count {
    uint64_t items, items_total; /* total 0: not known */
    uint64_t bytes, bytes_total;
};

/* items: as above, static. json: also on a terminal. */
void progress_begin(struct progress *progress, const char *items, bool json);
/* Shows it, if it was not shown just now. */
void progress_show(struct progress *progress, const struct progress_count *count);
/* Takes the line from the terminal. */
void progress_end(const struct progress *progress);
uint64_t progress_ms(const struct progress *progress);

/* "1.2 GiB" */
#define PROGRESS_BYTES_SIZE 16
void progress_bytes(uint64_t bytes, char text[PROGRESS_BYTES_SIZE]);

#endif
