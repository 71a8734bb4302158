/* Reads pages of other cells: a valid page is in order, within the text, and survives being written again; a merge of two of
 * them takes each key once, in order. The first two bytes say how much of the rest is the first page. */
#include <stdlib.h>

#include "fuzz.h"
#include "service/cell_page.h"

#define ENTRIES_MAX 64

static const struct page_key start = { .parts = { { NULL, 0 } } };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct bytes write_again(struct arena *arena, const struct cell_page *page)
{
    struct text out;

    text_init(&out, arena, 0);
    cell_page_begin(&out);
    for (size_t i = 0; i < page->count; i++)
        cell_page_add(&out, &page->entries[i].key, page->entries[i].value);
    cell_page_end(&out, page->has_next ? &page->next : NULL);
    return text_bytes(&out);
}

static bool read_page(struct arena *arena, struct bytes text, struct cell_page *ret_page)
{
    struct cell_page again;

    if (!cell_page_read(arena, text, &start, ENTRIES_MAX, ret_page))
        return false;
    require(ret_page->count <= ENTRIES_MAX);
    /* Numbers may be written in more bytes than they need, so it is not compared byte by byte. */
    require(cell_page_read(arena, write_again(arena, ret_page), &start, ENTRIES_MAX, &again));
    require(again.count == ret_page->count && again.has_next == ret_page->has_next);
    for (size_t i = 0; i < again.count; i++)
        require(page_key_compare(&again.entries[i].key, &ret_page->entries[i].key) == 0 &&
                bytes_equal(again.entries[i].value, ret_page->entries[i].value));
    return true;
}

static void merge(struct arena *arena, const struct cell_page pages[2])
{
    const struct merged_pages merged = { .pages = pages, .count = 2 };
    struct page_merge merging;
    struct page_entry entry;
    struct page_key last = start;
    enum page_merged found;
    size_t count = 0;

    page_merge_begin(&merging, arena, &merged);
    while ((found = page_merge_next(&merging, NULL, &entry)) == MERGED_ENTRY) {
        require(count == 0 || page_key_compare(&last, &entry.key) < 0);
        last = entry.key;
        require(++count <= pages[0].count + pages[1].count);
    }
    require(found == MERGED_END || (!pages[0].has_next && !pages[1].has_next));
    require(found == MERGED_NONE || count == 0 || page_key_compare(&last, &entry.key) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(size > 0 ? (const void *)data : "", size);
    struct arena *arena = arena_new(1 << 20);
    struct cell_page pages[2];
    size_t first;

    (void)read_page(arena, input, &pages[0]);
    if (size > 2) {
        input = bytes_from(input, 2);
        first = (size_t)(data[0] << 8 | data[1]) % (input.len + 1);
        if (read_page(arena, bytes_of(input.ptr, first), &pages[0]) &&
            read_page(arena, bytes_from(input, first), &pages[1]))
            merge(arena, pages);
    }
    arena_free(arena);
    return 0;
}
