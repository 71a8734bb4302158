/* Reads a source that is copied step by step: the ranges that have bytes, and their bytes. Of a page blob or
 * a file on this server the ranges are known. Of another server's everything is read, and pages of zeros
 * become holes. decision: 99 */
#ifndef LAGRA_SOURCE_PAGE_WALK_H
#define LAGRA_SOURCE_PAGE_WALK_H

#include "source/open_source.h"

/* The most bytes and ranges of a step, which bound its commit and its memory. */
#define PAGES_STEP_BYTES        (UINT64_C(64) << 20)
#define PAGES_STEP_RANGES       4096u
/* The same of a difference: it changes units that have up to 175 KiB of records already. */
#define PAGES_DIFFERENCE_RANGES 512u

struct page_walk {
    struct gathering *g;
    struct open_source *open;
    const struct content *older; /* what differs from it is copied; NULL: all. By the caller */
    uint64_t position;           /* all before it was gathered */
    uint64_t next;               /* where the step that was looked at ends */
    uint64_t bytes;              /* that it has */
    struct content_range *ranges;
    size_t range_count;
    char *buffer; /* of another server's: what the step has */
    size_t buffered;
};

/* Goes on at `position` of a source that was opened (another server's: from there on). */
void page_walk_begin(struct page_walk *walk, struct gathering *g, struct open_source *open,
                     uint64_t position);
/* Finds the ranges of the next step; its memory is in the arena of the call. returns OK, or the error of the
 * source */
enum error page_walk_look(struct page_walk *walk);
/* Gathers the bytes of the step into the body of the call, and advances to its end. */
enum error page_walk_gather(struct page_walk *walk);
void page_walk_end(struct page_walk *walk);

#endif
