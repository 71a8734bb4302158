/* See copy_state.h. */
#include "service/copy_state.h"

void copy_state_encode(struct text *out, const struct copy_state *copy)
{
    encode_u8(out, (uint8_t)copy->status);
    encode_fixed(out, copy->id.b, sizeof copy->id.b);
    encode_bytes(out, copy->source);
    encode_u64(out, copy->copied);
    encode_u64(out, copy->total);
    encode_u64(out, copy->completed);
    encode_bytes(out, copy->description);
}

void copy_state_decode(struct decoder *in, struct copy_state *copy)
{
    uint8_t status = decode_u8(in);

    if (status > COPY_FAILED)
        in->bad = true;
    else
        copy->status = (enum copy_status)status;
    decode_fixed(in, copy->id.b, sizeof copy->id.b);
    copy->source = decode_bytes(in);
    copy->copied = decode_u64(in);
    copy->total = decode_u64(in);
    copy->completed = decode_u64(in);
    copy->description = decode_bytes(in);
}

const char *copy_status_text(enum copy_status status)
{
    switch (status) {
    case COPY_PENDING:
        return "pending";
    case COPY_SUCCESS:
        return "success";
    case COPY_ABORTED:
        return "aborted";
    case COPY_FAILED:
        return "failed";
    case COPY_NONE:
        break;
    }
    return NULL;
}
