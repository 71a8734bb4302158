/* The stored form of access policies. */
#include "auth/policies.h"

#include "base/codec.h"

#define POLICIES_VERSION 1

static struct policy decode_policy(struct decoder *in)
{
    struct policy policy;

    policy.id = decode_bytes(in);
    policy.start = decode_u64(in);
    policy.expiry = decode_u64(in);
    policy.permission = decode_bytes(in);
    return policy;
}

bool policies_decode(struct bytes encoded, struct policies *ret_policies)
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

struct bytes policies_encode(struct arena *arena, const struct policies *policies)
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

const struct policy *policies_find(const struct policies *policies, struct bytes id)
{
    for (size_t i = 0; i < policies->count; i++) {
        if (bytes_equal(policies->items[i].id, id))
            return &policies->items[i];
    }
    return NULL;
}
