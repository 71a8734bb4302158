/* See cell_page.h. */
#include "service/cell_page.h"

#include <assert.h>

#define VERSION 1

enum { MARK_LAST, MARK_ENTRY, MARK_MORE };

int page_key_compare(const struct page_key *a, const struct page_key *b)
{
    for (size_t i = 0; i < PAGE_KEY_PARTS; i++) {
        int order = bytes_compare(a->parts[i], b->parts[i]);

        if (order != 0)
            return order;
    }
    return 0;
}

/* ---- writing ---- */

static void write_key(struct text *out, const struct page_key *key)
{
    for (size_t i = 0; i < PAGE_KEY_PARTS; i++)
        encode_bytes(out, bytes_of(key->parts[i].ptr ? key->parts[i].ptr : "", key->parts[i].len));
}

void cell_page_begin(struct text *out)
{
    encode_u8(out, VERSION);
}

void cell_page_add(struct text *out, const struct page_key *key, struct bytes value)
{
    encode_u8(out, MARK_ENTRY);
    write_key(out, key);
    encode_bytes(out, value);
}

void cell_page_end(struct text *out, const struct page_key *next)
{
    encode_u8(out, next ? MARK_MORE : MARK_LAST);
    if (next)
        write_key(out, next);
}

/* ---- reading ---- */

/* Reads a key. Absent parts are encoded as empty ones. */
static struct page_key read_key(struct decoder *in)
{
    struct page_key key;

    for (size_t i = 0; i < PAGE_KEY_PARTS; i++) {
        key.parts[i] = decode_bytes(in);
        in->bad |= !key.parts[i].ptr;
    }
    return key;
}

/* Counts the entries, so that memory is only allocated for entries that the text contains. */
static bool count_entries(struct bytes text, size_t max, size_t *ret_count)
{
    struct decoder in;
    uint8_t mark;

    *ret_count = 0;
    decoder_init(&in, text);
    if (decode_u8(&in) != VERSION)
        return false;
    while ((mark = decode_u8(&in)) == MARK_ENTRY && !in.bad) {
        (void)read_key(&in);
        (void)decode_bytes(&in);
        if (in.bad || ++*ret_count > max)
            return false;
    }
    if (mark == MARK_MORE)
        (void)read_key(&in);
    return (mark == MARK_LAST || mark == MARK_MORE) && decoder_ok(&in);
}

bool cell_page_read(struct arena *arena, struct bytes text, const struct page_key *from, size_t max,
                    struct cell_page *ret_page)
{
    struct page_entry *entries;
    const struct page_key *last = from;
    struct decoder in;
    size_t count;

    if (!count_entries(text, max, &count))
        return false;
    entries = arena_array(arena, count, sizeof *entries);
    *ret_page = (struct cell_page){ .entries = entries, .count = count };
    decoder_init(&in, text);
    (void)decode_u8(&in);
    for (size_t i = 0; i < count; i++) {
        (void)decode_u8(&in);
        entries[i].key = read_key(&in);
        entries[i].value = decode_bytes(&in);
        if (page_key_compare(last, &entries[i].key) >= (i == 0 ? 1 : 0))
            return false;
        last = &entries[i].key;
    }
    ret_page->has_next = decode_u8(&in) == MARK_MORE;
    if (ret_page->has_next)
        ret_page->next = read_key(&in);
    /* The next page must start after this one, or the list would never end. */
    return !ret_page->has_next || page_key_compare(last, &ret_page->next) < 0;
}

/* ---- merging ---- */

void page_merge_begin(struct page_merge *merge, struct arena *arena,
                      const struct merged_pages *merged)
{
    *merge = (struct page_merge){ .pages = merged->pages, .count = merged->count };
    if (merged->count > 0)
        merge->at = arena_array(arena, merged->count, sizeof *merge->at);
}

/* Returns the key of the page's next entry, or the start of the next page; NULL after the end of
 * the list. */
static const struct page_key *next_key(const struct page_merge *merge, size_t i)
{
    const struct cell_page *page = &merge->pages[i];

    if (merge->at[i] < page->count)
        return &page->entries[merge->at[i]].key;
    return page->has_next ? &page->next : NULL;
}

/* Finds the lowest of these keys. Sets *ret_ends if a page ends there: its next page may also
 * contain the key, so the merged page must end there, too. */
static const struct page_key *lowest_key(const struct page_merge *merge, bool *ret_ends)
{
    const struct page_key *lowest = NULL;

    for (size_t i = 0; i < merge->count; i++) {
        const struct page_key *key = next_key(merge, i);
        bool ends = merge->at[i] == merge->pages[i].count;
        int order = key && lowest ? page_key_compare(key, lowest) : -1;

        if (!key || order > 0)
            continue;
        *ret_ends = order == 0 ? *ret_ends || ends : ends;
        lowest = key;
    }
    return lowest;
}

/* Consumes the entries with this key, and returns the first. */
static void take(struct page_merge *merge, struct page_key key, struct page_entry *ret_entry)
{
    bool is_taken = false;

    for (size_t i = 0; i < merge->count; i++) {
        const struct cell_page *page = &merge->pages[i];

        if (merge->at[i] == page->count ||
            page_key_compare(&page->entries[merge->at[i]].key, &key) != 0)
            continue;
        if (!is_taken)
            *ret_entry = page->entries[merge->at[i]];
        is_taken = true;
        merge->at[i]++;
    }
    assert(is_taken);
}

enum page_merged page_merge_next(struct page_merge *merge, const struct page_key *before,
                                 struct page_entry *ret_entry)
{
    const struct page_key *lowest;
    bool ends = false;

    while ((lowest = lowest_key(merge, &ends))) {
        int order = before ? page_key_compare(lowest, before) : -1;

        if (order > 0)
            return MERGED_NONE;
        if (ends) {
            *ret_entry = (struct page_entry){ .key = *lowest };
            return MERGED_END;
        }
        take(merge, *lowest, ret_entry);
        if (order < 0)
            return MERGED_ENTRY;
    }
    return MERGED_NONE;
}
