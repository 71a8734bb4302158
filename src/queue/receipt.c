/* The text of a pop receipt: base64 of u8 1 (version); place, be64; changes, be32. */
#include "queue/receipt.h"

#include "base/encode.h"
#include "base/endian.h"

#define RECEIPT_VERSION 1
#define RECEIPT_BYTES   13
#define TEXT_BYTES      20

struct bytes receipt_text(struct arena *arena, struct receipt receipt)
{
    char raw[RECEIPT_BYTES] = { RECEIPT_VERSION };

    be64_put(raw + 1, receipt.place);
    be32_put(raw + 9, receipt.changes);
    return base64_encode(arena, bytes_of(raw, sizeof raw));
}

bool receipt_parse(struct arena *arena, struct bytes text, struct receipt *ret_receipt)
{
    struct bytes raw;

    if (text.len != TEXT_BYTES)
        return false;
    raw = base64_decode(arena, text);
    if (raw.len != RECEIPT_BYTES || raw.ptr[0] != RECEIPT_VERSION)
        return false;
    ret_receipt->place = be64_get(raw.ptr + 1);
    ret_receipt->changes = be32_get(raw.ptr + 9);
    return true;
}
