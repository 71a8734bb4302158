/* Get Container Properties, Get Container Metadata, Set Container Metadata as requests and
 * answers. */
#include "blob/container_operations.h"
#include "blob/rest/request.h"
#include "service/metadata.h"

/* ---- Get Container Properties ---- */

enum error get_container_properties_check(struct call *call,
                                          struct get_container_properties_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

/* What later versions added to the answer is sent to callers of those versions only, as recordings
 * of older versions show. rest: Get-Container-Properties */
void get_container_properties_answer(struct answer *a,
                                     const struct get_container_properties_parameters *p,
                                     const struct get_container_properties_result *r)
{
    const struct call *call = a->call;
    const struct container *container = &r->container;

    (void)p;
    answer_status(a, 200);
    metadata_answer(a, container->metadata);
    answer_etag(a, container->etag, container->modified);
    answer_lease(a, &container->lease);
    if (call_since(call, "2016-05-31"))
        public_access_answer(a, container->public_access);
    if (call_since(call, "2017-11-09")) {
        answer_string(a, "x-ms-has-immutability-policy", "false");
        answer_string(a, "x-ms-has-legal-hold", "false");
    }
    if (call_since(call, "2019-07-07")) {
        answer_string(a, "x-ms-default-encryption-scope", "$account-encryption-key");
        answer_string(a, "x-ms-deny-encryption-scope-override", "false");
    }
    if (call_since(call, "2020-10-02"))
        answer_string(a, "x-ms-immutable-storage-with-versioning-enabled", "false");
}

/* ---- Get Container Metadata ---- */

enum error get_container_metadata_check(struct call *call,
                                        struct get_container_metadata_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void get_container_metadata_answer(struct answer *a,
                                   const struct get_container_metadata_parameters *p,
                                   const struct get_container_metadata_result *r)
{
    (void)p;
    answer_status(a, 200);
    metadata_answer(a, r->metadata);
    answer_etag(a, r->etag, r->modified);
}

/* ---- Set Container Metadata ---- */

enum error set_container_metadata_check(struct call *call,
                                        struct set_container_metadata_parameters *p)
{
    return metadata_from_headers(call, &p->metadata);
}

void set_container_metadata_answer(struct answer *a,
                                   const struct set_container_metadata_parameters *p,
                                   const struct set_container_metadata_result *r)
{
    (void)p;
    answer_status(a, 200);
    answer_etag(a, r->etag, r->modified);
}
