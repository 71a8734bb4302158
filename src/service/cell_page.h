/* A page of a list, sent by the owner of another cell, and the merge of such pages. Pure functions.
 *
 * The lists of an account are ordered by keys of three parts: (name, record key, -) for containers,
 * queues and shares; (name, -, -) for tables; (container, key of the index, blob) for blobs found
 * by tags. The pages of all cells start at the same key. The merge takes their entries in key order
 * and ends at the end of a page, unless that is its cell's last page. A page of n entries therefore
 * costs each cell at most n.
 *
 * Encoding (base/codec.h): u8 1 (version); for each entry u8 1, the three parts of its key and its
 * value, as bytes; then u8 0 at the end of the list, or u8 2 and the three parts of the key at
 * which the next page starts. A page is received from another process, so cell_page_read() accepts
 * only what cell_page_write..() can write. */
#ifndef LAGRA_SERVICE_CELL_PAGE_H
#define LAGRA_SERVICE_CELL_PAGE_H

#include "base/codec.h"

#define PAGE_KEY_PARTS 3

struct page_key {
    struct bytes parts[PAGE_KEY_PARTS]; /* an empty part may have ptr NULL */
};
/* Compares like strcmp(), part by part. */
int page_key_compare(const struct page_key *a, const struct page_key *b);

struct page_entry {
    struct page_key key;
    struct bytes value;
};

struct cell_page {
    const struct page_entry *entries; /* in ascending key order */
    size_t count;
    bool has_next;
    struct page_key next; /* start of the next page, after all entries */
};

/* ---- writing ---- */

void cell_page_begin(struct text *out);
void cell_page_add(struct text *out, const struct page_key *key, struct bytes value);
/* next: start of the next page, or NULL if this is the last page */
void cell_page_end(struct text *out, const struct page_key *next);

/* ---- reading ---- */

/* Reads a page, whose entries point into the text.
 *
 * from     key at which it must start
 * max      maximum number of entries
 * returns  false if it is malformed, not in order, starts before `from`, or has too many entries */
bool cell_page_read(struct arena *arena, struct bytes text, const struct page_key *from, size_t max,
                    struct cell_page *ret_page);

/* ---- merging ---- */

/* How many times each step of a move of the account's containers between cells was done
 * (placement_move.h). */
struct move_count {
    bool is_known;
    int64_t seals, finished, switches;
};

/* A list that is merged with those of other cells. */
struct merged_pages {
    /* Set by the check of the operation. */
    struct page_key from; /* start of the page */
    uint32_t max;         /* maximum number of entries */
    /* Set by service/other_cells.h. */
    const struct cell_page *pages;
    size_t count;            /* 0 if there are no pages of other cells */
    struct move_count moves; /* read before the list was decided */
};

/* State of a merge of other cells' pages with a list of our own. */
struct page_merge {
    const struct cell_page *pages;
    size_t count;
    size_t *at; /* for each page, the number of entries taken */
};

enum page_merged {
    MERGED_ENTRY, /* *ret_entry is the next entry */
    MERGED_NONE,  /* no entry precedes `before` */
    MERGED_END,   /* end of the merged page; ret_entry->key is the start of the next one */
};

void page_merge_begin(struct page_merge *merge, struct arena *arena,
                      const struct merged_pages *merged);
/* Returns the first entry of all pages if it precedes `before`, the next key of our own list (NULL
 * if none). If several entries have the same key, our own has priority, then that of the first
 * page. */
enum page_merged page_merge_next(struct page_merge *merge, const struct page_key *before,
                                 struct page_entry *ret_entry);

#endif
