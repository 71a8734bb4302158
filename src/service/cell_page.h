/* A page of a list as the owner of another cell sends it, and the merge of such pages into one. Pure.
 *
 * A list of an account is in the order of keys of three parts: (name, record key, -) of containers, queues and shares,
 * (name, -, -) of tables, (container, key of the index, blob) of blobs that are found by their tags. Each cell sends its own
 * page, which starts at the same key for all of them; the merge takes the entries in the order of their keys, and ends where
 * a page does that is not the last one of its cell. So a page of n entries costs each cell at most n.
 *
 * Encoded (base/codec.h): u8 1 (version); for each entry u8 1, three parts of its key, its value, as bytes; then u8 0 at the end
 * of the list, or u8 2 and the three parts of the key at which the next page starts. A page comes from another process:
 * cell_page_read() accepts nothing that cell_page_write..() could not have written. */
#ifndef LAGRA_SERVICE_CELL_PAGE_H
#define LAGRA_SERVICE_CELL_PAGE_H

#include "base/codec.h"

#define PAGE_KEY_PARTS 3

struct page_key {
    struct bytes parts[PAGE_KEY_PARTS]; /* an empty one may have ptr NULL */
};
/* Like strcmp(), part by part. */
int page_key_compare(const struct page_key *a, const struct page_key *b);

struct page_entry {
    struct page_key key;
    struct bytes value;
};

struct cell_page {
    const struct page_entry *entries; /* in ascending order of their keys */
    size_t count;
    bool has_next;
    struct page_key next; /* where the next page starts: after all entries */
};

/* ---- writing ---- */

void cell_page_begin(struct text *out);
void cell_page_add(struct text *out, const struct page_key *key, struct bytes value);
/* next: where the next page starts, or NULL if this one is the last */
void cell_page_end(struct text *out, const struct page_key *next);

/* ---- reading ---- */

/* Reads a page, which points into the text.
 *
 * from     key at which it was to start
 * max      number of entries that it may have
 * returns  false if it is malformed, not in order, starts before `from`, or has too many entries */
bool cell_page_read(struct arena *arena, struct bytes text, const struct page_key *from, size_t max,
                    struct cell_page *ret_page);

/* ---- merging ---- */

/* Of the moves of an account's containers between cells: how often each step was done (placement_move.h). */
struct move_count {
    bool is_known;
    int64_t seals, finished, switches;
};

/* A list that is merged with those of other cells. */
struct merged_pages {
    /* By the check of its operation. */
    struct page_key from; /* where the page starts */
    uint32_t max;         /* number of entries that it may have */
    /* By service/other_cells.h. */
    const struct cell_page *pages;
    size_t count;            /* 0 if all entries are our own */
    struct move_count moves; /* before the list was decided */
};

/* The pages of other cells while they are merged with a list of our own. */
struct page_merge {
    const struct cell_page *pages;
    size_t count;
    size_t *at; /* of each page: number of its entries that were taken */
};

enum page_merged {
    MERGED_ENTRY, /* *ret_entry is the next one */
    MERGED_NONE,  /* nothing precedes `before` */
    MERGED_END,   /* the merged page ends: ret_entry->key is where the next one starts */
};

void page_merge_begin(struct page_merge *merge, struct arena *arena,
                      const struct merged_pages *merged);
/* Takes the first entry of all pages if it precedes `before`, the next key of our own list (NULL: there is none). Of entries with
 * one key the first page's is taken, and ours before all of them. */
enum page_merged page_merge_next(struct page_merge *merge, const struct page_key *before,
                                 struct page_entry *ret_entry);

#endif
