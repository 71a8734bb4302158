/* Continuation tokens as the service has them: "1!40!cGFydGl0aW9u.." is the version, the length of
 * the rest, and a key in base64 with '-' for '=', '_' for '/', '*' for '+', so that it needs no
 * encoding in a URL. Recorded; semantics 6. Pure functions, any thread. */
#ifndef LAGRA_TABLE_REST_CONTINUATION_H
#define LAGRA_TABLE_REST_CONTINUATION_H

#include "base/arena.h"

struct bytes continuation_encode(struct arena *arena, struct bytes key);
/* ptr NULL: not a token. What it returns may be no key at all: only its form is checked. */
struct bytes continuation_decode(struct arena *arena, struct bytes token);

#endif
