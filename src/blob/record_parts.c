/* See record_parts.h. */
#include "blob/record_parts.h"

void policy_encode(struct text *out, const struct blob_immutability *i)
{
    encode_u8(out, (uint8_t)i->mode);
    encode_u64(out, i->until);
}

void policy_decode(struct decoder *in, struct blob_immutability *i)
{
    uint8_t mode = decode_u8(in);

    i->until = decode_u64(in);
    if ((mode != POLICY_UNLOCKED && mode != POLICY_LOCKED) || i->until == 0) {
        in->bad = true;
        return;
    }
    i->mode = (enum policy_mode)mode;
}

void protection_encode(struct text *out, const struct container_immutability *i)
{
    encode_u8(out, i->has_versions);
    encode_u8(out, (uint8_t)i->mode);
    encode_u64(out, i->days);
    encode_u8(out, (uint8_t)i->append);
    encode_u64(out, i->extensions);
    encode_bytes(out, i->holds);
    encode_u8(out, i->holds_append);
    encode_u8(out, i->is_closed);
    encode_bytes(out, i->log);
}

void protection_decode(struct decoder *in, struct container_immutability *i)
{
    uint8_t versions = decode_u8(in), mode = decode_u8(in), append, holds_append, closed;

    i->days = decode_u32(in);
    append = decode_u8(in);
    i->extensions = decode_u32(in);
    i->holds = decode_bytes(in);
    holds_append = decode_u8(in);
    closed = decode_u8(in);
    i->log = decode_bytes(in);
    if (versions > 1 || mode > POLICY_LOCKED || append > APPEND_TO_ALL || holds_append > 1 ||
        closed > 1 || (mode == POLICY_NONE) != (i->days == 0)) {
        in->bad = true;
        return;
    }
    i->has_versions = versions > 0;
    i->mode = (enum policy_mode)mode;
    i->append = (enum append_rule)append;
    i->holds_append = holds_append > 0;
    i->is_closed = closed > 0;
}

void incremental_encode(struct text *out, const struct incremental_copy *copy)
{
    encode_u8(out, copy->is_whole);
    encode_bytes(out, copy->source);
    encode_u64(out, copy->source_snapshot);
    encode_u64(out, copy->snapshot);
}

void incremental_decode(struct decoder *in, struct incremental_copy *copy)
{
    copy->is_one = true;
    copy->is_whole = decode_u8(in) != 0;
    copy->source = decode_bytes(in);
    copy->source_snapshot = decode_u64(in);
    copy->snapshot = decode_u64(in);
}
