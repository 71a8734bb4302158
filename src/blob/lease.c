/* Lease Blob and Lease Container: apply the state machine of concurrency/lease.h to a stored lease.
 * They change no ETag or modification time. rest: Lease-Blob, Lease-Container; semantics 3.1 */
#include "blob/blob_operations.h"
#include "blob/container_operations.h"

enum error lease_blob_decide(struct decision *d, const struct lease_blob_parameters *p,
                             struct lease_blob_result *r)
{
    struct blob blob = blob_state(d)->blob;
    enum error e = lease_perform(LEASE_OF_BLOB, &blob.lease, &p->request, d->now, &r->lease);

    if (e)
        return e;
    blob_change(d, &blob_state(d)->blob, &blob);
    r->id = blob.lease.id;
    return OK;
}

enum error lease_container_decide(struct decision *d, const struct lease_container_parameters *p,
                                  struct lease_container_result *r)
{
    struct container container = blob_state(d)->container;
    enum error e =
        lease_perform(LEASE_OF_CONTAINER, &container.lease, &p->request, d->now, &r->lease);

    if (e)
        return e;
    container_write(d->changes, d->arena, &container);
    r->id = container.lease.id;
    return OK;
}
