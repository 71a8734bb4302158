/* Lists a page of an account's containers, queues or shares by iterating over its space. */
#include "service/listing.h"

#include <assert.h>

#include "base/log.h"

bool listing_is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '$')
            return false;
    }
    return name.len > 0;
}

static bool is_shown(const struct listing *listing, struct listing_sink *sink,
                     const struct space_record *at)
{
    return !bytes_equal(at->partition_key, listing->hidden) &&
           (!sink->shows || sink->shows(sink, at));
}

/* A page while it is filled. */
struct filling {
    struct decision *d;
    const struct listing *listing;
    struct listing_sink *sink;
    struct page_merge others;
    uint32_t count;
    struct listing_place *next;
};

static void end_page_at(struct filling *f, const struct space_record *at)
{
    f->next->name = arena_copy(f->d->arena, at->partition_key);
    f->next->record = arena_copy(f->d->arena, at->record_key);
}

static bool is_full(const struct filling *f)
{
    assert(f->count <= f->listing->max);
    return f->count == f->listing->max || f->sink->full;
}

static enum store_result add(struct filling *f, const struct space_record *at)
{
    f->count++;
    if (f->sink->add(f->sink, at))
        return STORE_OK;
    log_line(LOG_ERROR, "the record of %.*s has an unrecognized format",
             BYTES_ARG(at->partition_key));
    return STORE_CORRUPT;
}

static enum store_result add_of_other(struct filling *f, const struct space_record *at)
{
    if (listing_is_name(at->partition_key) &&
        bytes_has_prefix(at->partition_key, f->listing->prefix))
        return add(f, at);
    log_line(LOG_ERROR, "another cell sent an invalid list entry");
    return STORE_CORRUPT;
}

/* Adds the entries of other cells that precede our next record, or all entries (NULL). Ends the
 * page (sets f->next) if it is full or one of the other pages ends. */
static enum store_result add_others(struct filling *f, const struct space_record *before)
{
    enum store_result result = STORE_OK;
    struct page_entry entry;
    struct page_key key;

    if (f->others.count == 0)
        return STORE_OK;
    if (before)
        key = (struct page_key){ { before->partition_key, before->record_key } };
    while (result == STORE_OK) {
        enum page_merged merged = page_merge_next(&f->others, before ? &key : NULL, &entry);
        struct space_record at;

        if (merged == MERGED_NONE)
            return STORE_OK;
        at = (struct space_record){ .partition_key = entry.key.parts[0],
                                    .record_key = entry.key.parts[1],
                                    .value = entry.value };
        if (merged == MERGED_END || is_full(f)) {
            end_page_at(f, &at);
            return STORE_OK;
        }
        result = add_of_other(f, &at);
    }
    return result;
}

static enum store_result add_page(struct filling *f, struct space_iterator *iterator)
{
    struct space_record at;

    for (uint32_t looked_at = 0;; looked_at++) {
        enum store_result result = space_iterator_next(iterator, &at);
        bool is_last = looked_at == LISTING_RECORDS_MAX;

        if (result && result != STORE_NOT_FOUND)
            return result;
        if (result || !bytes_has_prefix(at.partition_key, f->listing->prefix))
            return add_others(f, NULL);
        if (!is_last && !is_shown(f->listing, f->sink, &at))
            continue;
        result = add_others(f, &at);
        if (result || f->next->name.ptr)
            return result;
        if (is_last || is_full(f)) {
            end_page_at(f, &at);
            return STORE_OK;
        }
        result = add(f, &at);
        if (result)
            return result;
    }
}

enum error listing_of_space(struct decision *d, struct guid space, const struct listing *listing,
                            struct listing_place from, struct listing_sink *sink,
                            struct listing_place *ret_next)
{
    struct listing_place first = { .name = listing->prefix };
    struct filling filling = { .d = d, .listing = listing, .sink = sink, .next = ret_next };
    struct space_iterator *iterator;
    enum store_result result;

    sink->begin(sink, d->now);
    page_merge_begin(&filling.others, d->arena, &d->input->merged);
    if (from.name.ptr && bytes_compare(from.name, first.name) >= 0)
        first = from;
    iterator = space_iterator_open(d->store, space, first.name, first.record, d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(&filling, iterator);
    space_iterator_close(iterator);
    return result ? decision_fail_store(d, result) : OK;
}
