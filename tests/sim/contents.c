/* See contents.h. rest: Append-Block, Put-Page, Get-Page-Ranges */
#include "contents.h"

#include <string.h>

#include "world.h"

uint32_t contents_length(const struct contents *contents)
{
    uint32_t length = 0;

    if (contents->kind == KIND_PAGES)
        return contents->pages->count * PAGE_BYTES;
    if (contents->kind == KIND_APPENDED)
        return contents->last ? contents->last->from + contents->last->bytes.length : 0;
    for (unsigned i = 0; i < contents->segment_count; i++)
        length += contents->segments[i].length;
    return length;
}

/* ---- bytes ---- */

struct beside {
    uint32_t from; /* of the blob */
    const unsigned char *bytes;
    size_t size;
};

/* The part of the pattern that lies at `at` in the blob. */
static bool is_pattern(const struct beside *beside, uint64_t at, uint64_t seed, uint64_t pattern,
                       uint32_t length)
{
    static unsigned char part[4096];
    uint64_t from = at > beside->from ? at : beside->from;
    uint64_t end = beside->from + beside->size, to = at + length < end ? at + length : end;

    while (from < to) {
        size_t some = to - from < sizeof part ? (size_t)(to - from) : sizeof part;

        pattern_fill(seed, pattern + (from - at), part, some);
        if (memcmp(part, beside->bytes + (from - beside->from), some) != 0)
            return false;
        from += some;
    }
    return true;
}

static bool are_zeros(const struct beside *beside, uint64_t at)
{
    uint64_t from = at > beside->from ? at : beside->from;
    uint64_t end = beside->from + beside->size, to = at + PAGE_BYTES;

    for (; from < to && from < end; from++) {
        if (beside->bytes[from - beside->from] != 0)
            return false;
    }
    return true;
}

static bool are_segments(const struct contents *contents, const struct beside *beside)
{
    uint64_t at = 0;

    for (unsigned i = 0; i < contents->segment_count; i++) {
        const struct segment *segment = &contents->segments[i];

        if (!is_pattern(beside, at, segment->seed, 0, segment->length))
            return false;
        at += segment->length;
    }
    return true;
}

static bool are_appended(const struct contents *contents, const struct beside *beside)
{
    for (const struct appended *at = contents->last; at; at = at->before) {
        if (!is_pattern(beside, at->from, at->bytes.seed, 0, at->bytes.length))
            return false;
    }
    return true;
}

static bool are_pages(const struct contents *contents, const struct beside *beside)
{
    for (unsigned i = 0; i < contents->pages->count; i++) {
        const struct blob_page *page = &contents->pages->at[i];
        uint64_t at = (uint64_t)i * PAGE_BYTES;

        if (!(page->mark ? is_pattern(beside, at, page->seed, page->from, PAGE_BYTES)
                         : are_zeros(beside, at)))
            return false;
    }
    return true;
}

const char *contents_compare(const struct contents *contents, uint32_t from,
                             const unsigned char *bytes, size_t size)
{
    const struct beside beside = { .from = from, .bytes = bytes, .size = size };
    bool same = contents->kind == KIND_PAGES      ? are_pages(contents, &beside)
                : contents->kind == KIND_APPENDED ? are_appended(contents, &beside)
                                                  : are_segments(contents, &beside);

    return same ? NULL : "other bytes";
}

/* ---- changes ---- */

void contents_append(struct contents *contents, const struct segment *bytes, bool kept)
{
    static struct appended unkept;
    struct appended *block = kept ? world_alloc(sizeof *block) : &unkept;

    *block = (struct appended){ .before = contents->last,
                                .bytes = *bytes,
                                .from = contents_length(contents) };
    contents->last = block;
    contents->appended++;
}

static struct blob_pages *change_pages(struct contents *contents, unsigned count, bool kept)
{
    static _Alignas(struct blob_page) unsigned char
        unkept[sizeof(struct blob_pages) + PAGES_MAX * sizeof(struct blob_page)];
    const struct blob_pages *were = contents->pages;
    unsigned same = were && were->count < count ? were->count : were ? count : 0;
    struct blob_pages *pages =
        kept ? world_alloc(sizeof *pages + count * sizeof pages->at[0]) : (void *)unkept;

    if (were && were != pages)
        memcpy(pages->at, were->at, same * sizeof pages->at[0]);
    memset(pages->at + same, 0, (count - same) * sizeof pages->at[0]);
    pages->count = count;
    contents->pages = pages;
    return pages;
}

void contents_resize(struct contents *contents, uint32_t size, bool kept)
{
    (void)change_pages(contents, size / PAGE_BYTES, kept);
}

void contents_write(struct contents *contents, uint32_t from, uint32_t length,
                    const struct segment *bytes, uint64_t mark, bool kept)
{
    struct blob_pages *pages = change_pages(contents, contents->pages->count, kept);

    for (uint32_t at = 0; at < length; at += PAGE_BYTES) {
        struct blob_page *page = &pages->at[(from + at) / PAGE_BYTES];

        *page = bytes ? (struct blob_page){ .seed = bytes->seed, .from = at, .mark = mark }
                      : (struct blob_page){ .mark = 0 };
    }
}

/* ---- ranges ---- */

enum shown { NOT_SHOWN, SHOWN, SHOWN_CLEAR };

static enum shown show(const struct contents *contents, const struct contents *older, unsigned page)
{
    uint64_t is = contents->pages->at[page].mark, was = 0;

    if (!older)
        return is ? SHOWN : NOT_SHOWN;
    if (page < older->pages->count)
        was = older->pages->at[page].mark;
    if (is == was)
        return NOT_SHOWN;
    return is ? SHOWN : SHOWN_CLEAR;
}

bool contents_range(const struct contents *contents, const struct contents *older, uint32_t from,
                    uint32_t to, uint32_t *ret_from, uint32_t *ret_to, bool *ret_is_clear)
{
    unsigned page = from / PAGE_BYTES, end = (to + PAGE_BYTES - 1) / PAGE_BYTES;
    enum shown kind;

    while (page < end && show(contents, older, page) == NOT_SHOWN)
        page++;
    if (page >= end || from >= to)
        return false;
    kind = show(contents, older, page);
    *ret_is_clear = kind == SHOWN_CLEAR;
    *ret_from = page * PAGE_BYTES > from ? page * PAGE_BYTES : from;
    while (page < end && show(contents, older, page) == kind)
        page++;
    *ret_to = page * PAGE_BYTES < to ? page * PAGE_BYTES : to;
    return true;
}
