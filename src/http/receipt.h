/* Receipts. A server may answer a forwarded request with a description of the body instead of the
 * body (response.described_length). The forwarding server then reports, with receipts on the same
 * connection, how many bytes of the body it has sent to its client. The last receipt ends the
 * exchange. Pure.
 *
 *   0   4  "LgRc"
 *   4   1  1 if it is the last receipt of the exchange, else 0
 *   5   8  bytes sent so far; big-endian */
#ifndef LAGRA_HTTP_RECEIPT_H
#define LAGRA_HTTP_RECEIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define RECEIPT_BYTES 13u

struct receipt {
    uint64_t bytes;
    bool is_last;
};
void receipt_write(const struct receipt *receipt, char to[RECEIPT_BYTES]);

enum receipt_found { RECEIPT_PART, RECEIPT_WHOLE, RECEIPT_MALFORMED };
/* Reads a receipt at the start of the input. */
enum receipt_found receipt_read(struct bytes input, struct receipt *ret_receipt);

#endif
