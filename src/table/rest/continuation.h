/* Continuation tokens in the service's form: "1!40!cGFydGl0aW9u.." is the version, the length of
 * the rest, and a key in base64 with '-' for '=', '_' for '/', '*' for '+', so that it needs no
 * encoding in a URL. Recorded; semantics 6. Pure functions. Thread-safe. */
#ifndef LAGRA_TABLE_REST_CONTINUATION_H
#define LAGRA_TABLE_REST_CONTINUATION_H

#include "base/arena.h"

struct bytes continuation_encode(struct arena *arena, struct bytes key);
/* Returns ptr NULL if it is not a token. Checks only the form; the result may not be a valid
 * key. */
struct bytes continuation_decode(struct arena *arena, struct bytes token);

#endif
