/* Parses the header section of a response from another Lagra server (written by answer_head.c),
 * which is forwarded to a client. Pure. The sender is trusted, but may have bugs: anything that two
 * parsers might interpret differently is malformed. rfc: 9112 4, 5 */
#ifndef LAGRA_HTTP_RESPONSE_HEAD_H
#define LAGRA_HTTP_RESPONSE_HEAD_H

#include "http/http.h"

/* Greater than any header section that Lagra writes */
#define RESPONSE_HEAD_MAX ((size_t)68 * 1024)

struct response_head {
    size_t size;     /* size including the empty line */
    int status;      /* 100, or 200 to 599 */
    uint64_t length; /* Content-Length; 0 if absent */
    bool closes;     /* Connection: close */
};
enum response_found { RESPONSE_PART, RESPONSE_WHOLE, RESPONSE_MALFORMED };

/* Reads a header section at the start of the input; the first `searched` bytes were scanned by an
 * earlier call. Appends its headers to `to`, copied into its arena, except Date, Connection and
 * Content-Length, which each server sets itself. */
enum response_found response_head_read(struct bytes input, size_t searched, struct response *to,
                                       struct response_head *ret_head);

#endif
