/* Get Container ACL, Set Container ACL as requests and as XML, and the public access that other
 * operations take and show. rest: Get-Container-ACL, Set-Container-ACL */
#include "blob/container_operations.h"
#include "blob/rest/request.h"
#include "service/signed_identifiers.h"

#define POLICY_PERMISSIONS "racwdxyltfmeopi"

/* ---- public access ---- */

enum error public_access_from_header(struct call *call, enum public_access *ret_access)
{
    const char *name = "x-ms-blob-public-access";
    struct bytes value = call_header(call, name);

    if (!value.ptr)
        *ret_access = ACCESS_PRIVATE;
    else if (bytes_is_nocase(value, "blob"))
        *ret_access = ACCESS_BLOB;
    else if (bytes_is_nocase(value, "container"))
        *ret_access = ACCESS_CONTAINER;
    else
        return call_fail_header(call, E_InvalidHeaderValue, name, value);
    return *ret_access != ACCESS_PRIVATE && call->no_public_access ? E_PublicAccessNotPermitted
                                                                   : OK;
}

const char *public_access_text(enum public_access access)
{
    switch (access) {
    case ACCESS_PRIVATE:
        return NULL;
    case ACCESS_BLOB:
        return "blob";
    case ACCESS_CONTAINER:
        return "container";
    }
    return NULL;
}

void public_access_answer(struct answer *a, enum public_access access)
{
    const char *text = public_access_text(access);

    if (text)
        answer_string(a, "x-ms-blob-public-access", text);
}

/* ---- Get Container ACL ---- */

enum error get_container_acl_check(struct call *call, struct get_container_acl_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void get_container_acl_answer(struct answer *a, const struct get_container_acl_parameters *p,
                              const struct get_container_acl_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 512);
    signed_identifiers_xml(&out, &r->policies);
    answer_etag(a, r->etag, r->modified);
    public_access_answer(a, r->access);
    answer_xml(a, 200, &out);
}

/* ---- Set Container ACL ---- */

enum error set_container_acl_check(struct call *call, struct set_container_acl_parameters *p)
{
    return public_access_from_header(call, &p->access);
}

enum error set_container_acl_parse(struct call *call, struct set_container_acl_parameters *p)
{
    return signed_identifiers_read(call, POLICY_PERMISSIONS, &p->policies);
}

void set_container_acl_answer(struct answer *a, const struct set_container_acl_parameters *p,
                              const struct set_container_acl_result *r)
{
    (void)p;
    answer_status(a, 200);
    answer_etag(a, r->etag, r->modified);
}
