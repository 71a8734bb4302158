/* Text encodings: base64 (rfc: 4648 4), percent encoding of URLs (rfc: 3986 2.1) and of queries as
 * HTML forms have them. Any thread. */
#ifndef LAGRA_BASE_ENCODE_H
#define LAGRA_BASE_ENCODE_H

#include "base/arena.h"

struct bytes base64_encode(struct arena *arena, struct bytes from);
/* Strict: with padding. Returns ptr NULL when `from` is not valid base64. */
struct bytes base64_decode(struct arena *arena, struct bytes from);
/* Strict, of the alphabet for URLs and without padding (rfc: 4648 5). Returns ptr NULL when `from`
 * is not that. */
struct bytes base64url_decode(struct arena *arena, struct bytes from);
/* As Node.js decodes: '-' and '_' stand for '+' and '/', other characters are passed over, the
 * first '=' ends the text, and padding may be missing. Never fails; the result may be empty. */
struct bytes base64_decode_lenient(struct arena *arena, struct bytes from);
/* Decodes %XX; '+' stays. Returns ptr NULL when a '%' is not followed by two hexadecimal digits,
 * and `from` itself when there is nothing to decode. For paths. */
struct bytes percent_decode(struct arena *arena, struct bytes from);
/* As percent_decode(), and '+' becomes a space. For names and values of a query. */
struct bytes query_decode(struct arena *arena, struct bytes from);
/* All but unreserved characters and those in `keep` become %XX (upper case). */
struct bytes percent_encode(struct arena *arena, struct bytes from, const char *keep);

#endif
