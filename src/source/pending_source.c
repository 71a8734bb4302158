/* See pending_source.h. */
#include "source/pending_source.h"

enum { FLAG_OWN = 1, FLAG_OTHER = 2 };

void pending_source_encode(struct text *out, const struct pending_source *source)
{
    encode_fixed(out, source->id.b, sizeof source->id.b);
    encode_u64(out, source->begun);
    encode_u8(out,
              (uint8_t)((source->is_own ? FLAG_OWN : 0) | (source->is_other ? FLAG_OTHER : 0)));
    encode_bytes(out, source->url);
    encode_bytes(out, source->account);
    encode_bytes(out, source->etag);
}

void pending_source_decode(struct decoder *in, struct pending_source *ret_source)
{
    uint8_t flags;

    decode_fixed(in, ret_source->id.b, sizeof ret_source->id.b);
    ret_source->begun = decode_u64(in);
    flags = decode_u8(in);
    ret_source->is_own = (flags & FLAG_OWN) != 0;
    ret_source->is_other = (flags & FLAG_OTHER) != 0;
    ret_source->url = decode_bytes(in);
    ret_source->account = decode_bytes(in);
    ret_source->etag = decode_bytes(in);
}
