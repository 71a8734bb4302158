/* Text encodings: base64 (rfc: 4648 4, with padding, strict), percent encoding of URLs
 * (rfc: 3986 2.1). Any thread. */
#ifndef LAGRA_BASE_ENCODE_H
#define LAGRA_BASE_ENCODE_H

#include "base/arena.h"

struct bytes base64_encode(struct arena *arena, struct bytes from);
/* ptr NULL when `from` is not valid base64. */
struct bytes base64_decode(struct arena *arena, struct bytes from);
/* %XX decoded; '+' stays. ptr NULL when a '%' is not followed by two hex digits. Gives `from`
 * itself when there is nothing to decode. */
struct bytes percent_decode(struct arena *arena, struct bytes from);
/* All but unreserved characters and those in `keep` become %XX (upper case). */
struct bytes percent_encode(struct arena *arena, struct bytes from, const char *keep);

#endif
