/* The head of a response of another server of ours, as answer_head.c writes it: what is forwarded to a client. Pure.
 * Its sender is trusted not to lie, but not to be free of defects: whatever two readers might understand differently
 * is malformed. rfc: 9112 4, 5 */
#ifndef LAGRA_HTTP_RESPONSE_HEAD_H
#define LAGRA_HTTP_RESPONSE_HEAD_H

#include "http/http.h"

/* More than any head that we write has. */
#define RESPONSE_HEAD_MAX ((size_t)68 * 1024)

struct response_head {
    size_t size;     /* bytes, with the empty line */
    int status;      /* 100, or 200 to 599 */
    uint64_t length; /* Content-Length; 0 without */
    bool closes;     /* Connection: close */
};
enum response_found { RESPONSE_PART, RESPONSE_WHOLE, RESPONSE_MALFORMED };

/* Reads a head from the start of the input, in which `searched` bytes were looked through before. Adds its headers to
 * `to`, copied into its arena, without Date, Connection and Content-Length, which each server writes itself. */
enum response_found response_head_read(struct bytes input, size_t searched, struct response *to,
                                       struct response_head *ret_head);

#endif
