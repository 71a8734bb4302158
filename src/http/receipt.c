/* See receipt.h. */
#include "http/receipt.h"

#include "base/endian.h"

#define LAST_AT  4u
#define BYTES_AT 5u

static const struct bytes begin = BYTES("LgRc");

void receipt_write(const struct receipt *receipt, char to[RECEIPT_BYTES])
{
    memcpy(to, begin.ptr, begin.len);
    to[LAST_AT] = (char)receipt->is_last;
    be64_put(to + BYTES_AT, receipt->bytes);
}

enum receipt_found receipt_read(struct bytes input, struct receipt *ret_receipt)
{
    size_t looked_at = input.len < begin.len ? input.len : begin.len;

    if (looked_at > 0 && memcmp(input.ptr, begin.ptr, looked_at) != 0)
        return RECEIPT_MALFORMED;
    if (input.len > LAST_AT && (uint8_t)input.ptr[LAST_AT] > 1)
        return RECEIPT_MALFORMED;
    if (input.len < RECEIPT_BYTES)
        return RECEIPT_PART;
    *ret_receipt =
        (struct receipt){ .bytes = be64_get(input.ptr + BYTES_AT), .is_last = input.ptr[LAST_AT] };
    return RECEIPT_WHOLE;
}
