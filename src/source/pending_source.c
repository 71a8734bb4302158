/* See pending_source.h. */
#include "source/pending_source.h"

#include "service/small_record.h"

#define VERSION 1

enum { FLAG_OWN = 1, FLAG_OTHER = 2 };

const struct bytes pending_record_key = BYTES("Y");

static void encode_source(struct text *out, const struct pending_source *source)
{
    encode_fixed(out, source->id.b, sizeof source->id.b);
    encode_u64(out, source->begun);
    encode_u8(out,
              (uint8_t)((source->is_own ? FLAG_OWN : 0) | (source->is_other ? FLAG_OTHER : 0)));
    encode_bytes(out, source->url);
    encode_bytes(out, source->account);
    encode_bytes(out, source->etag);
}

static void decode_source(struct decoder *in, struct pending_source *ret_source)
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

void pending_record_begin(struct text *out, const struct pending_source *source,
                          struct bytes target)
{
    encode_u8(out, VERSION);
    encode_source(out, source);
    encode_bytes(out, target);
}

enum store_result pending_record_read(struct read_view *before, struct arena *arena,
                                      struct pending_source *ret_source, struct bytes *ret_target,
                                      struct decoder *ret_rest)
{
    struct record record;
    enum store_result result =
        read_view_get(before, RECORD_INNER, pending_record_key, arena, &record);

    if (result)
        return result;
    decoder_init(ret_rest, record.value);
    if (decode_u8(ret_rest) != VERSION)
        return record_is_unknown("the record of a pending copy", record.value);
    decode_source(ret_rest, ret_source);
    *ret_target = decode_bytes(ret_rest);
    return STORE_OK;
}
