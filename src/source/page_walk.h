/* Reads a source in steps: the ranges that contain bytes, and their bytes. The ranges of a page
 * blob or a file on this server, or in another cell, are known. Another server's blob is read
 * completely, and pages of zeros become holes. decision: 99 */
#ifndef LAGRA_SOURCE_PAGE_WALK_H
#define LAGRA_SOURCE_PAGE_WALK_H

#include "source/open_source.h"

/* Maximum bytes and ranges per step, which limit its commit and its memory. */
#define PAGES_STEP_BYTES        (UINT64_C(64) << 20)
#define PAGES_STEP_RANGES       4096u
/* Lower maximum for a differential copy, because each range rewrites a unit that may already have
 * 175 KiB of records. */
#define PAGES_DIFFERENCE_RANGES 512u

struct page_walk {
    struct gathering *g;
    struct open_source *open;
    instant previous;     /* copies the differences from this snapshot; 0 means all */
    struct content older; /* that snapshot, of a source in this cell */
    uint64_t position;    /* end of the gathered part */
    uint64_t next;        /* end of the current step */
    uint64_t bytes;       /* in the current step */
    struct content_range *ranges;
    size_t range_count;
    char *buffer; /* for another server's source: data of the step */
    size_t buffered;
};

struct page_walk_from {
    uint64_t position;
    instant
        previous; /* snapshot of a page blob, to copy only the differences from it; 0 means all */
};
/* Starts at a position of an open source (a source on another server must have been opened at that
 * position). page_walk_end() follows in any case. Returns OK, or the source's error. */
enum error page_walk_begin(struct page_walk *walk, struct gathering *g, struct open_source *open,
                           const struct page_walk_from *from);
/* Finds the ranges of the next step; their memory is in the call's arena. Returns OK, or the
 * source's error. */
enum error page_walk_find_ranges(struct page_walk *walk);
/* Gathers the bytes of the step into the call's body, and advances to its end. */
enum error page_walk_gather(struct page_walk *walk);
void page_walk_end(struct page_walk *walk);

/* The bytes of a step, in its ranges. */
struct page_walk_bytes {
    struct gather_source source; /* must be first */
    struct page_walk *walk;
    size_t range; /* next range */
    uint64_t at;  /* position in the buffered range */
};
/* Returns a source of the bytes of the step. */
struct page_walk_bytes page_walk_bytes(struct page_walk *walk);

#endif
