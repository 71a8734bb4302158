/* Get Container ACL, Set Container ACL: public access and stored access policies.
 *
 * Policies are kept in the container's record as a run of entries, in the order they were set:
 *   u8 1 (version of the run); then for each: bytes id; start and expiry, ticks, 0 when not set;
 *   bytes permission, absent when not set
 * rest: Get-Container-ACL, Set-Container-ACL; a change holds at once, for there is one server */
#include "blob/container_operations.h"

#define POLICIES_VERSION 1

/* ---- the stored form ---- */

static struct policy decode_policy(struct decoder *in)
{
    struct policy policy;

    policy.id = decode_bytes(in);
    policy.start = decode_u64(in);
    policy.expiry = decode_u64(in);
    policy.permission = decode_bytes(in);
    return policy;
}

static bool decode_policies(struct bytes encoded, struct policies *ret_policies)
{
    struct policies policies = { .count = 0 };
    struct decoder in;

    decoder_init(&in, encoded);
    if (encoded.len > 0 && decode_u8(&in) != POLICIES_VERSION)
        return false;
    while (!in.bad && in.at < in.end) {
        if (policies.count == POLICIES_MAX)
            return false;
        policies.items[policies.count++] = decode_policy(&in);
    }
    *ret_policies = policies;
    return !in.bad;
}

static struct bytes encode_policies(struct arena *arena, const struct policies *policies)
{
    struct text out;

    if (policies->count == 0)
        return (struct bytes){ NULL, 0 };
    text_init(&out, arena, 128);
    encode_u8(&out, POLICIES_VERSION);
    for (size_t i = 0; i < policies->count; i++) {
        encode_bytes(&out, policies->items[i].id);
        encode_u64(&out, policies->items[i].start);
        encode_u64(&out, policies->items[i].expiry);
        encode_bytes(&out, policies->items[i].permission);
    }
    return text_bytes(&out);
}

/* ---- the operations ---- */

enum error get_container_acl_decide(struct decision *d,
                                    const struct get_container_acl_parameters *p,
                                    struct get_container_acl_result *r)
{
    const struct container *container = &blob_state(d)->container;

    (void)p;
    if (!decode_policies(container->policies, &r->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    r->access = container->public_access;
    r->etag = container->etag;
    r->modified = container->modified;
    return OK;
}

/* Replaces the public access and all policies: what is not sent is gone. */
enum error set_container_acl_decide(struct decision *d,
                                    const struct set_container_acl_parameters *p,
                                    struct set_container_acl_result *r)
{
    struct container container = blob_state(d)->container;

    container.public_access = p->access;
    container.policies = encode_policies(d->arena, &p->policies);
    container_write_changed(d, &container);
    r->etag = container.etag;
    r->modified = container.modified;
    return OK;
}
