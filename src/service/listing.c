/* A page of an account's containers, queues or shares: an iterator over its space. */
#include "service/listing.h"

#include <assert.h>

#include "base/log.h"

static bool is_shown(const struct listing *listing, struct listing_sink *sink,
                     const struct space_record *at)
{
    return !bytes_equal(at->partition_key, listing->hidden) &&
           (!sink->shows || sink->shows(sink, at));
}

static enum store_result add_page(struct decision *d, struct space_iterator *iterator,
                                  const struct listing *listing, struct listing_sink *sink,
                                  struct listing_place *ret_next)
{
    struct space_record at;

    for (uint32_t count = 0, looked_at = 0;; looked_at++) {
        enum store_result result = space_iterator_next(iterator, &at);
        bool shown;

        if (result)
            return result == STORE_NOT_FOUND ? STORE_OK : result;
        if (!bytes_has_prefix(at.partition_key, listing->prefix))
            return STORE_OK;
        assert(count <= listing->max);
        shown = is_shown(listing, sink, &at);
        if ((shown && (count == listing->max || sink->full)) || looked_at == LISTING_RECORDS_MAX) {
            ret_next->name = arena_copy(d->arena, at.partition_key);
            ret_next->record = arena_copy(d->arena, at.record_key);
            return STORE_OK;
        }
        if (!shown)
            continue;
        count++;
        if (!sink->add(sink, &at)) {
            log_line(LOG_ERROR, "the record of %.*s has an unknown form",
                     BYTES_ARG(at.partition_key));
            return STORE_CORRUPT;
        }
    }
}

enum error listing_of_space(struct decision *d, struct guid space, const struct listing *listing,
                            struct listing_place from, struct listing_sink *sink,
                            struct listing_place *ret_next)
{
    struct listing_place first = { .name = listing->prefix };
    struct space_iterator *iterator;
    enum store_result result;

    sink->begin(sink, d->now);
    if (from.name.ptr && bytes_compare(from.name, first.name) >= 0)
        first = from;
    iterator = space_iterator_open(d->store, space, first.name, first.record, d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(d, iterator, listing, sink, ret_next);
    space_iterator_close(iterator);
    return result ? decision_fail_store(d, result) : OK;
}
