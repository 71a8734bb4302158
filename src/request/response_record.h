/* Encodes responses of operations, whose bodies are in memory, for other front ends of the cluster.
 * Decoding validates them like any data from outside. */
#ifndef LAGRA_REQUEST_RESPONSE_RECORD_H
#define LAGRA_REQUEST_RESPONSE_RECORD_H

#include "base/codec.h"
#include "http/http.h"

/* Encodes u64 status, the number of headers, their names and values, and bytes: the body. */
void response_encode(struct text *out, const struct response *response);
/* Decodes a response; its texts point into the input. If it is malformed, `in` becomes bad. */
void response_decode(struct decoder *in, struct arena *arena, struct response *ret_response);

#endif
