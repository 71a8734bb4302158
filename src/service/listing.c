/* A page of an account's containers, queues or tables: an iterator over its space. */
#include "service/listing.h"

#include <assert.h>

#include "base/log.h"

static enum store_result add_page(struct decision *d, struct space_iterator *iterator,
                                  const struct listing *listing, struct listing_sink *sink,
                                  struct bytes *ret_next)
{
    struct space_record at;

    for (uint32_t count = 0;;) {
        enum store_result result = space_iterator_next(iterator, &at);

        if (result)
            return result == STORE_NOT_FOUND ? STORE_OK : result;
        if (!bytes_has_prefix(at.partition_key, listing->prefix))
            return STORE_OK;
        assert(count <= listing->max);
        if (count == listing->max || sink->full) {
            *ret_next = arena_copy(d->arena, at.partition_key);
            return STORE_OK;
        }
        if (bytes_equal(at.partition_key, listing->hidden))
            continue;
        count++;
        if (!sink->add(sink, at.partition_key, at.value)) {
            log_line(LOG_ERROR, "the record of %.*s has an unknown form",
                     BYTES_ARG(at.partition_key));
            return STORE_CORRUPT;
        }
    }
}

enum error listing_of_space(struct decision *d, struct guid space, const struct listing *listing,
                            struct bytes from, struct listing_sink *sink, struct bytes *ret_next)
{
    struct bytes first = listing->prefix;
    struct space_iterator *iterator;
    enum store_result result;

    sink->begin(sink, d->now);
    if (from.ptr && bytes_compare(from, first) > 0)
        first = from;
    iterator = space_iterator_open(d->store, space, first, (struct bytes){ NULL, 0 }, d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(d, iterator, listing, sink, ret_next);
    space_iterator_close(iterator);
    return result ? decision_fail_store(d, result) : OK;
}
