/* The head of an answer as text.
 *
 * Date, Content-Length and Connection are the server's own; everything else is the application's.
 * Pure, but for the date, which each worker formats once a second. Inside http/ only. */
#ifndef LAGRA_HTTP_ANSWER_HEAD_H
#define LAGRA_HTTP_ANSWER_HEAD_H

#include "base/clock.h"
#include "http/http.h"

/* A date as text, made anew when the second is another one. Zeroed: none yet. */
struct date_text {
    uint64_t second;
    char text[INSTANT_HTTP_SIZE];
};
void date_text_set(struct date_text *date, instant now);

enum connection_header {
    CONNECTION_NONE,
    CONNECTION_CLOSE,
    CONNECTION_KEEP_ALIVE, /* to an HTTP/1.0 client that asked for it */
};

/* Neither body nor length. rfc: 9110 15.3.5, 15.4.5 */
static inline bool status_has_no_body(int status)
{
    return status == 204 || status == 304;
}
/* Of the body; of HEAD: what GET would have. */
static inline uint64_t response_length(const struct response *response)
{
    return response->body_kind == BODY_BYTES ? response->body.len : response->body_length;
}

/* What the head of an answer may have: twice what requests can have stored of headers (decision 49),
 * with room for those that other requests and the rules of CORS add. */
#define ANSWER_HEAD_BYTES ((size_t)64 * 1024)

/* Takes out what cannot be sent: headers with control characters, those that are longer than any that
 * a request can bring, and then the longest ones until those that stay have room. What was stored can
 * so always be answered. decision: 241 */
void response_drop_unsendable(struct response *response);
/* Writes status line, headers and the empty line.
 *
 * returns  the size; 0: there is no room for it, or a header is not to be sent: a control character
 *          would become a second answer in the client's eyes */
size_t answer_head_write(const struct response *response, const struct date_text *date,
                         enum connection_header connection, char *to, size_t room);

#endif
