/* As much of DER as SPNEGO needs: definite lengths of up to four bytes, tags of one byte. The
 * reader trusts nothing: what is short or another marks it `bad`, and everything after it is
 * empty. Any thread. X.690 8.1, 10.1 */
#ifndef LAGRA_SMB_DER_H
#define LAGRA_SMB_DER_H

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
/* Does a value with this tag come next? */
bool der_next_is(const struct der *d, uint8_t tag);
/* Takes the next value, which must have the tag; its content. ret_whole, if not NULL: with tag
 * and length. */
struct bytes der_take(struct der *d, uint8_t tag, struct bytes *ret_whole);
/* The same, as a reader of what is in it; it is bad if `d` is. */
struct der der_enter(struct der *d, uint8_t tag);
/* Takes a value of any tag, and forgets it. */
void der_skip(struct der *d);
static inline bool der_at_end(const struct der *d)
{
    return d->bad || d->rest.len == 0;
}

/* A value of its parts, one after the other. */
struct bytes der_put(struct arena *arena, uint8_t tag, const struct bytes parts[], size_t count);

#endif
