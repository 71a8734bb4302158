/* Get Container Properties, Get Container Metadata, Set Container Metadata. */
#include "blob/container_private.h"

/* rest: Get-Container-Properties. What later versions added to the answer is given to callers of
 * those versions only, as recordings of older versions show. */
enum error get_container_properties(struct decision *d)
{
    const struct call *call = d->call;
    const struct container *container = &blob_state(d)->container;

    answer(d, 200);
    metadata_answer(d, container->metadata);
    answer_etag(d, container->etag, container->modified);
    answer_lease(d, &container->lease);
    if (call_since(call, "2016-05-31"))
        public_access_answer(d, container->public_access);
    if (call_since(call, "2017-11-09")) {
        answer_string(d, "x-ms-has-immutability-policy", "false");
        answer_string(d, "x-ms-has-legal-hold", "false");
    }
    if (call_since(call, "2019-07-07")) {
        answer_string(d, "x-ms-default-encryption-scope", "$account-encryption-key");
        answer_string(d, "x-ms-deny-encryption-scope-override", "false");
    }
    if (call_since(call, "2020-10-02"))
        answer_string(d, "x-ms-immutable-storage-with-versioning-enabled", "false");
    return OK;
}

/* rest: Get-Container-Metadata */
enum error get_container_metadata(struct decision *d)
{
    const struct container *container = &blob_state(d)->container;

    answer(d, 200);
    metadata_answer(d, container->metadata);
    answer_etag(d, container->etag, container->modified);
    return OK;
}

enum error check_set_container_metadata(struct decision *d)
{
    struct bytes *metadata = arena_alloc(d->arena, sizeof *metadata);
    enum error e;

    e = metadata_from_headers(d, metadata);
    if (e)
        return e;
    d->call->parameters = metadata;
    return OK;
}

/* Replaces all metadata of a container. Its lease, also an expired one, stays as it is.
 * rest: Set-Container-Metadata; semantics 3.2 */
enum error set_container_metadata(struct decision *d)
{
    const struct bytes *metadata = d->call->parameters;
    struct container container = blob_state(d)->container;

    container.metadata = *metadata;
    return container_change(d, &container);
}
