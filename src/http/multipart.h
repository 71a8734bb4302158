/* multipart/mixed bodies whose parts are HTTP requests, and bodies with their responses: several
 * operations in one request (OData's batch format, as used by Azure).
 *
 * Pure. Results point into the text or the arena. Like the service, the parser is stricter than
 * MIME: nothing may precede the first boundary, and only white space may follow the last. For a
 * part that is itself multipart, use a second reader on its content.
 *
 * rfc: 2046 5.1; rest: Blob-Batch, Performing-Entity-Group-Transactions; decision: 60, 260.
 * Thread-safe. */
#ifndef LAGRA_HTTP_MULTIPART_H
#define LAGRA_HTTP_MULTIPART_H

#include "http/http.h"

/* ---- parsing ---- */

#define MULTIPART_BOUNDARY_MAX     70
#define MULTIPART_ID_MAX           1024
/* Limits of a request in a part */
#define MULTIPART_TARGET_MAX       (16u << 10)
#define MULTIPART_HEADER_COUNT_MAX 64
#define MULTIPART_HEADERS_MAX      (16u << 10)

enum multipart_type {
    MULTIPART_TYPE_OK,
    MULTIPART_TYPE_OTHER,     /* not multipart/mixed, or without a valid boundary */
    MULTIPART_TYPE_AMBIGUOUS, /* several boundaries */
};
/* Parses a Content-Type and returns its boundary. An unquoted boundary may contain '=', because
 * some clients send it. */
enum multipart_type multipart_type(struct bytes content_type, struct bytes *ret_boundary);

/* Differences between services. decision: 60 (blobs), 260 (entities) */
enum multipart_rules {
    /* Lines end with CR LF. Request targets are paths, not URLs with a host. */
    MULTIPART_STRICT,
    /* Lines end with CR LF or LF, even mixed. Request targets are paths, or URLs whose host is
     * ignored. */
    MULTIPART_LENIENT,
};

struct multipart {
    enum multipart_rules rules;
    struct bytes boundary; /* "--boundary" */
    struct bytes rest;     /* unread part of the body, starting with a boundary */
};
/* Initializes a reader. boundary: as returned by multipart_type() */
void multipart_begin(struct multipart *reader, struct arena *arena, enum multipart_rules rules,
                     struct bytes boundary, struct bytes body);
/* Removes leading line ends. */
struct bytes multipart_skip_lines(enum multipart_rules rules, struct bytes text);

struct multipart_part {
    struct bytes content_type;      /* ptr NULL if absent */
    struct bytes transfer_encoding; /* Content-Transfer-Encoding; ptr NULL if absent */
    /* Content-ID, at most MULTIPART_ID_MAX bytes; ptr NULL if absent */
    struct bytes id;
    struct bytes content;
};
enum multipart_step {
    MULTIPART_PART,
    MULTIPART_END,       /* the last boundary was read; nothing follows it */
    MULTIPART_MALFORMED, /* also if the last boundary is missing */
};
enum multipart_step multipart_next(struct multipart *reader, struct arena *arena,
                                   struct multipart_part *ret_part);

/* Parses the content of a part as a request.
 *
 * ret_request  method, target, headers and content_length are set; a missing '/' at the start of
 *              the path is added. All other members are zeroed, because they belong to the
 *              enclosing request
 * ret_body     rest of the content, including a line end that a client may send before the next
 *              boundary
 * returns      false if it is malformed or exceeds one of the limits above */
bool multipart_request(struct arena *arena, struct bytes content, enum multipart_rules rules,
                       struct request *ret_request, struct bytes *ret_body);

/* ---- responses ---- */

/* Appends a response as a part. Its body must be in memory (BODY_BYTES) or absent.
 *
 * id      Content-ID of the request's part; ptr NULL if none
 * reason  reason phrase of the status line */
void multipart_add(struct text *to, struct bytes boundary, struct bytes id,
                   const struct response *response, struct bytes reason);
/* Appends the last boundary, without a line end, like the real service. */
void multipart_close(struct text *to, struct bytes boundary);

#endif
