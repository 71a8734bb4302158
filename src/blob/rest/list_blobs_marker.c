/* Markers of List Blobs. A marker is base64 in the URL alphabet (rfc: 4648 5), without padding, of:
 *   u8 1 (version); bytes name; bytes record key (base/codec.h)
 * of the first record of the next page. Clients send it back, so all of it is validated. */
#include "base/codec.h"
#include "base/encode.h"
#include "blob/rest/listing.h"

#define MARKER_VERSION    1
#define MARKER_MAX_BYTES  16384

#define SNAPSHOT_KEY_SIZE 9 /* 0x01, ticks big-endian */

static struct bytes to_url_alphabet(struct arena *arena, struct bytes base64)
{
    char *to = arena_bytes(arena, base64.len);
    size_t len = 0;

    for (size_t i = 0; i < base64.len && base64.ptr[i] != '='; i++) {
        char c = base64.ptr[i];

        to[len++] = c;
        if (c == '+')
            to[len - 1] = '-';
        else if (c == '/')
            to[len - 1] = '_';
    }
    return bytes_of(to, len);
}

/* Restores padding and the common alphabet; ptr NULL if a character belongs to neither alphabet. */
static struct bytes from_url_alphabet(struct arena *arena, struct bytes text)
{
    size_t padded = (text.len + 3) / 4 * 4;
    char *to = arena_bytes(arena, padded);

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '+' || c == '/' || c == '=')
            return (struct bytes){ NULL, 0 };
        to[i] = c;
        if (c == '-')
            to[i] = '+';
        else if (c == '_')
            to[i] = '/';
    }
    memset(to + text.len, '=', padded - text.len);
    return bytes_of(to, padded);
}

struct bytes marker_text(struct arena *arena, struct bytes value)
{
    return to_url_alphabet(arena, base64_encode(arena, value));
}

struct bytes marker_value(struct arena *arena, struct bytes text)
{
    struct bytes base64;

    if (text.len > MARKER_MAX_BYTES)
        return (struct bytes){ NULL, 0 };
    base64 = from_url_alphabet(arena, text);
    return base64.ptr ? base64_decode(arena, base64) : base64;
}

struct bytes blob_marker_encode(struct arena *arena, struct listing_place place)
{
    struct text out;

    text_init(&out, arena, place.name.len + place.record.len + 8);
    encode_u8(&out, MARKER_VERSION);
    encode_bytes(&out, place.name);
    encode_bytes(&out, place.record);
    return marker_text(arena, text_bytes(&out));
}

static bool is_record_key(struct bytes key)
{
    if (key.len == 1)
        return (unsigned char)key.ptr[0] == 0xFF;
    return key.len == SNAPSHOT_KEY_SIZE && key.ptr[0] == 1;
}

bool blob_marker_decode(struct arena *arena, struct bytes marker, struct listing_place *ret_place)
{
    struct listing_place place;
    struct bytes value = marker_value(arena, marker);
    struct decoder in;

    if (!value.ptr)
        return false;
    decoder_init(&in, value);
    if (decode_u8(&in) != MARKER_VERSION)
        return false;
    place.name = decode_bytes(&in);
    place.record = decode_bytes(&in);
    if (!decoder_ok(&in) || place.name.len == 0 || !bytes_is_utf8(place.name) ||
        !is_record_key(place.record))
        return false;
    *ret_place = place;
    return true;
}
