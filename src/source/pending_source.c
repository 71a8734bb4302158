/* See pending_source.h. */
#include "source/pending_source.h"

enum { FLAG_OWN = 1 };

void pending_source_encode(struct text *out, const struct pending_source *source)
{
    encode_fixed(out, source->id.b, sizeof source->id.b);
    encode_u64(out, source->begun);
    encode_u8(out, source->is_own ? FLAG_OWN : 0);
    encode_bytes(out, source->url);
    encode_bytes(out, source->account);
    encode_bytes(out, source->etag);
}

void pending_source_decode(struct decoder *in, struct pending_source *ret_source)
{
    decode_fixed(in, ret_source->id.b, sizeof ret_source->id.b);
    ret_source->begun = decode_u64(in);
    ret_source->is_own = (decode_u8(in) & FLAG_OWN) != 0;
    ret_source->url = decode_bytes(in);
    ret_source->account = decode_bytes(in);
    ret_source->etag = decode_bytes(in);
}
