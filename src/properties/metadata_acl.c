/* See metadata_acl.h. */
#include "properties/metadata_acl.h"

#include "service/metadata.h"

static struct bytes *member(struct decision *d, size_t offset)
{
    return (struct bytes *)(void *)((char *)d->state + offset);
}

static enum error check(const struct call *call)
{
    const struct container_type *type = call->service->container;

    return type->check ? type->check(call) : OK;
}

/* ---- metadata ---- */

OPERATION_CHECKS_NOTHING(get_metadata)

enum error get_metadata_decide(struct decision *d, const struct get_metadata_parameters *p,
                               struct get_metadata_result *r)
{
    (void)p;
    r->metadata = *member(d, d->service->container->metadata);
    return OK;
}

void get_metadata_answer(struct answer *a, const struct get_metadata_parameters *p,
                         const struct get_metadata_result *r)
{
    (void)p;
    metadata_answer(a, r->metadata);
}

enum error set_metadata_check(struct call *call, struct set_metadata_parameters *p)
{
    enum error e = check(call);

    return e ? e : metadata_from_headers(call, &p->metadata);
}

/* Leaves the lease unchanged, even if it has expired. semantics 3.2 */
enum error set_metadata_decide(struct decision *d, const struct set_metadata_parameters *p,
                               struct set_metadata_result *r)
{
    (void)r;
    *member(d, d->service->container->metadata) = p->metadata;
    d->service->container->write(d);
    return OK;
}

OPERATION_ANSWERS_NOTHING(set_metadata)

/* ---- stored access policies ---- */

void acl_answer(struct answer *a, const struct policies *policies)
{
    struct text out;

    text_init(&out, a->arena, 512);
    signed_identifiers_xml(&out, policies);
    answer_xml(a, &out);
}

enum error get_acl_check(struct call *call, struct get_acl_parameters *p)
{
    (void)p;
    return check(call);
}

enum error get_acl_decide(struct decision *d, const struct get_acl_parameters *p,
                          struct get_acl_result *r)
{
    (void)p;
    if (!policies_decode(*member(d, d->service->container->policies), &r->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}

void get_acl_answer(struct answer *a, const struct get_acl_parameters *p,
                    const struct get_acl_result *r)
{
    (void)p;
    acl_answer(a, &r->policies);
}

enum error set_acl_check(struct call *call, struct set_acl_parameters *p)
{
    (void)p;
    return check(call);
}

enum error set_acl_parse(struct call *call, struct set_acl_parameters *p)
{
    return signed_identifiers_read(call, &call->service->container->letters, &p->policies);
}

enum error set_acl_decide(struct decision *d, const struct set_acl_parameters *p,
                          struct set_acl_result *r)
{
    (void)r;
    *member(d, d->service->container->policies) = policies_encode(d->arena, &p->policies);
    d->service->container->write(d);
    return OK;
}

OPERATION_ANSWERS_NOTHING(set_acl)
