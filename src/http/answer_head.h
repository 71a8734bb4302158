/* Formats the header section of a response.
 *
 * Date, Content-Length and Connection are set by the server; all other headers by the application.
 * Pure, except for the date, which each worker formats once a second. Internal to http/. */
#ifndef LAGRA_HTTP_ANSWER_HEAD_H
#define LAGRA_HTTP_ANSWER_HEAD_H

#include "base/clock.h"
#include "http/http.h"

/* A formatted date, cached for one second. Zeroed: not set. */
struct date_text {
    uint64_t second;
    char text[INSTANT_HTTP_SIZE];
};
void date_text_set(struct date_text *date, instant now);

enum connection_header {
    CONNECTION_NONE,
    CONNECTION_CLOSE,
    CONNECTION_KEEP_ALIVE, /* for an HTTP/1.0 client that requested it */
};

/* Returns true for statuses without body and length. rfc: 9110 15.3.5, 15.4.5 */
static inline bool status_has_no_body(int status)
{
    return status == 204 || status == 304;
}
/* Returns the length of the body, or for HEAD the length that GET would return. */
static inline uint64_t response_length(const struct response *response)
{
    return response->body_kind == BODY_BYTES ? response->body.len : response->body_length;
}

/* Maximum size of a header section: twice the headers that a request can store (decision 49), plus
 * space for computed headers and CORS. */
#define ANSWER_HEAD_BYTES ((size_t)64 * 1024)

/* Drops headers that cannot be sent, so that any stored object can be returned: headers with
 * control characters or longer than any request can store, and then the longest ones until the rest
 * fits. decision: 241 */
void response_drop_unsendable(struct response *response);
/* Writes status line, headers and the empty line. Returns the size, or 0 if they do not fit or a
 * header contains a control character, which would let it forge a second response. */
size_t answer_head_write(const struct response *response, const struct date_text *date,
                         enum connection_header connection, char *to, size_t room);

#endif
