/* Encodes responses of operations, whose bodies are in memory, for other front ends of the cluster.
 * Decoding validates them like any data from outside. */
#ifndef LAGRA_REQUEST_RESPONSE_RECORD_H
#define LAGRA_REQUEST_RESPONSE_RECORD_H

#include "base/codec.h"
#include "http/http.h"

/* A header of a request or a response: name and value, as bytes. */
void header_encode(struct text *out, struct bytes name, struct bytes value);
/* Decodes a header. If it is malformed, or could not be a line of HTTP, `in` becomes bad. */
void header_decode(struct decoder *in, struct bytes *ret_name, struct bytes *ret_value);

/* Encodes u64 status, the number of headers, the headers, and bytes: the body. */
void response_encode(struct text *out, const struct response *response);
/* Decodes a response; its texts point into the input. If it is malformed, `in` becomes bad. */
void response_decode(struct decoder *in, struct arena *arena, struct response *ret_response);

#endif
