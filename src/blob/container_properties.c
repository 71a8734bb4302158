/* Get Container Properties, Get Container Metadata, Set Container Metadata. */
#include "blob/container_operations.h"

/* rest: Get-Container-Properties */
enum error get_container_properties_decide(struct decision *d,
                                           const struct get_container_properties_parameters *p,
                                           struct get_container_properties_result *r)
{
    (void)p;
    r->container = blob_state(d)->container;
    return OK;
}

/* rest: Get-Container-Metadata */
enum error get_container_metadata_decide(struct decision *d,
                                         const struct get_container_metadata_parameters *p,
                                         struct get_container_metadata_result *r)
{
    const struct container *container = &blob_state(d)->container;

    (void)p;
    r->metadata = container->metadata;
    r->etag = container->etag;
    r->modified = container->modified;
    return OK;
}

/* Replaces all metadata of a container. Its lease, also an expired one, stays as it is.
 * rest: Set-Container-Metadata; semantics 3.2 */
enum error set_container_metadata_decide(struct decision *d,
                                         const struct set_container_metadata_parameters *p,
                                         struct set_container_metadata_result *r)
{
    struct container container = blob_state(d)->container;

    container.metadata = p->metadata;
    container_write_changed(d, &container);
    r->etag = container.etag;
    r->modified = container.modified;
    return OK;
}
