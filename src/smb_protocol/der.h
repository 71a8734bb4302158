/* The part of DER that SPNEGO needs: definite lengths of up to four bytes, one-byte tags. The
 * reader treats its input as hostile: a value that is truncated or has another tag sets `bad`, and
 * all later reads return empty values. Thread-safe. X.690 8.1, 10.1 */
#ifndef LAGRA_SMB_PROTOCOL_DER_H
#define LAGRA_SMB_PROTOCOL_DER_H

#include "base/arena.h"

#define DER_OCTET_STRING 0x04
#define DER_OID          0x06
#define DER_ENUMERATED   0x0A
#define DER_GENERAL_TEXT 0x1B
#define DER_SEQUENCE     0x30
#define DER_APPLICATION  0x60         /* [APPLICATION 0], constructed */
#define DER_CONTEXT(n)   (0xA0 + (n)) /* [n], constructed */

struct der {
    struct bytes rest;
    bool bad;
};

struct der der_of(struct bytes encoded);
/* Returns whether the next value has this tag. */
bool der_next_is(const struct der *d, uint8_t tag);
/* Reads the next value, which must have this tag, and returns its contents. ret_whole, unless NULL,
 * receives the value with its tag and length. */
struct bytes der_take(struct der *d, uint8_t tag, struct bytes *ret_whole);
/* Like der_take(), but returns a reader of the contents, which is bad if `d` is. */
struct der der_enter(struct der *d, uint8_t tag);
/* Skips one value. */
void der_skip(struct der *d);
static inline bool der_at_end(const struct der *d)
{
    return d->bad || d->rest.len == 0;
}

/* Encodes a value whose contents are the concatenated parts. */
struct bytes der_put(struct arena *arena, uint8_t tag, const struct bytes parts[], size_t count);

#endif
