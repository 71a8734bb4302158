/* Text encodings: base64 (rfc: 4648 4), percent encoding of URLs (rfc: 3986 2.1) and of HTML form
 * queries. Thread-safe. */
#ifndef LAGRA_BASE_ENCODE_H
#define LAGRA_BASE_ENCODE_H

#include "base/arena.h"

struct bytes base64_encode(struct arena *arena, struct bytes from);
/* Decodes strictly, with padding. Returns ptr NULL if `from` is not valid base64. */
struct bytes base64_decode(struct arena *arena, struct bytes from);
/* Like base64_decode(), but for the URL-safe alphabet without padding (rfc: 4648 5). */
struct bytes base64url_decode(struct arena *arena, struct bytes from);
/* Decodes like Node.js: accepts '-' and '_' for '+' and '/', skips other characters, stops at the
 * first '=', and does not require padding. Never fails; the result may be empty. */
struct bytes base64_decode_lenient(struct arena *arena, struct bytes from);
/* Decodes %XX, for paths; does not change '+'. Returns ptr NULL if a '%' is not followed by two
 * hexadecimal digits, and `from` itself if there is nothing to decode. */
struct bytes percent_decode(struct arena *arena, struct bytes from);
/* Like percent_decode(), but also decodes '+' as a space. For names and values of a query. */
struct bytes query_decode(struct arena *arena, struct bytes from);
/* Encodes all characters except unreserved ones and those in `keep` as %XX (upper case). */
struct bytes percent_encode(struct arena *arena, struct bytes from, const char *keep);

#endif
