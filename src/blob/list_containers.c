/* List Containers: an iterator over the account's space, where every container is a partition. */
#include "base/log.h"
#include "blob/service_operations.h"

/* Hands a page of containers to the sink.
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO */
static enum store_result add_page(struct space_iterator *iterator,
                                  const struct list_containers_parameters *p, struct decision *d,
                                  struct list_containers_result *r)
{
    struct space_record at;
    struct container container;
    enum store_result result;

    for (uint32_t count = 0;; count++) {
        result = space_iterator_next(iterator, &at);
        if (result == STORE_NOT_FOUND)
            return STORE_OK;
        if (result != STORE_OK)
            return result;
        if (!bytes_has_prefix(at.partition_key, p->listing.prefix))
            return STORE_OK;
        if (count == p->listing.max || p->sink->full) {
            r->next = arena_copy(d->arena, at.partition_key);
            return STORE_OK;
        }
        if (!container_decode(at.value, &container)) {
            log_line(LOG_ERROR, "the record of container %.*s has an unknown form",
                     BYTES_ARG(at.partition_key));
            return STORE_CORRUPT;
        }
        p->sink->add(p->sink, at.partition_key, &container);
    }
}

/* The containers of the account in order of name, a page at a time.
 * rest: List-Containers2 */
enum error list_containers_decide(struct decision *d, const struct list_containers_parameters *p,
                                  struct list_containers_result *r)
{
    struct bytes from = p->listing.prefix;
    struct space_iterator *iterator;
    enum store_result result;

    if (p->from.ptr && bytes_compare(p->from, from) > 0)
        from = p->from;
    p->sink->begin(p->sink, d->now);
    iterator = space_iterator_open(d->store, blob_account_space(d->input->account), from,
                                   (struct bytes){ NULL, 0 }, d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(iterator, p, d, r);
    space_iterator_close(iterator);
    return result ? decision_fail_store(d, result) : OK;
}
