/* Create Container. */
#include "blob/container_operations.h"

/* Creates a container with its metadata and public access; its space is new, so nothing of a
 * deleted container of the same name is in it.
 *
 * returns  OK, E_ContainerAlreadyExists
 * rest: Create-Container; the wait of 30 seconds after a deletion is not needed here
 * (semantics 5, ContainerBeingDeleted) */
enum error create_container_decide(struct decision *d, const struct create_container_parameters *p,
                                   struct create_container_result *r)
{
    struct container container;
    enum store_result result;

    result = container_read(d->before, d->arena, &container);
    if (result == STORE_OK)
        return E_ContainerAlreadyExists;
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);

    container = (struct container){
        .space = p->space,
        .created = d->now,
        .etag = etag_after((struct etag){ 0 }, d->now),
        .modified = d->now,
        .public_access = p->access,
        .metadata = p->metadata,
    };
    container_write(d->changes, d->arena, &container);
    r->etag = container.etag;
    r->modified = container.modified;
    return OK;
}
