/* multipart/mixed bodies whose parts are HTTP requests, and the bodies that answer them: how a
 * client asks for several operations in one request (OData's batch format, as Azure has it).
 *
 * Pure: text in, structs out. What is returned points into the text, or lies in the arena. Nothing
 * may come before the first boundary, and nothing but blanks after the last: as the service itself
 * is known to be, stricter than MIME. A part that is itself multipart is read by a second reader
 * over its content.
 *
 * rfc: 2046 5.1; rest: Blob-Batch, Performing-Entity-Group-Transactions; decision: 60, 260. Any
 * thread. */
#ifndef LAGRA_HTTP_MULTIPART_H
#define LAGRA_HTTP_MULTIPART_H

#include "http/http.h"

/* ---- reading ---- */

#define MULTIPART_BOUNDARY_MAX     70
#define MULTIPART_ID_MAX           1024
/* Of one request in a part. */
#define MULTIPART_TARGET_MAX       (16u << 10)
#define MULTIPART_HEADER_COUNT_MAX 64
#define MULTIPART_HEADERS_MAX      (16u << 10)

enum multipart_type {
    MULTIPART_TYPE_OK,
    MULTIPART_TYPE_OTHER,     /* not multipart/mixed, no boundary, or none that may be one */
    MULTIPART_TYPE_AMBIGUOUS, /* several boundaries */
};
/* The boundary that a Content-Type names. One that is not in quotes may have '=' in it, as clients
 * send it. */
enum multipart_type multipart_type(struct bytes content_type, struct bytes *ret_boundary);

/* What clients of a service may write. decision: 60 (blobs), 260 (entities) */
enum multipart_rules {
    /* Lines end with CR LF. Requests name what they are about by a path, not by a URL with its
     * host. */
    MULTIPART_STRICT,
    /* Lines end with CR LF or LF, each as it likes; a CR before an LF belongs to the line end.
     * Requests name what they are about by a URL, whose host is passed over, or by a path. */
    MULTIPART_LENIENT,
};

struct multipart {
    enum multipart_rules rules;
    struct bytes boundary; /* "--boundary" */
    struct bytes rest;     /* of the body, from a boundary on */
};
/* boundary: as multipart_type() returned it. */
void multipart_begin(struct multipart *reader, struct arena *arena, enum multipart_rules rules,
                     struct bytes boundary, struct bytes body);
/* Cuts off the line ends that a text begins with. */
struct bytes multipart_skip_lines(enum multipart_rules rules, struct bytes text);

struct multipart_part {
    struct bytes content_type;      /* ptr NULL: none */
    struct bytes transfer_encoding; /* Content-Transfer-Encoding; ptr NULL: none */
    struct bytes id;                /* Content-ID, at most MULTIPART_ID_MAX bytes; ptr NULL: none */
    struct bytes content;
};
enum multipart_step {
    MULTIPART_PART,
    MULTIPART_END,       /* the last boundary, and nothing behind it */
    MULTIPART_MALFORMED, /* also when the last boundary is missing */
};
enum multipart_step multipart_next(struct multipart *reader, struct arena *arena,
                                   struct multipart_part *ret_part);

/* A part's content as a request.
 *
 * ret_request  method, target, headers and content_length; a path that lacks its first '/' gets it.
 *              Zeroed otherwise: the rest is known to who read the request around it
 * ret_body     what follows the head; the line end that a client may put before the next boundary
 *              is part of it
 * returns      false: malformed, or beyond a limit above */
bool multipart_request(struct arena *arena, struct bytes content, enum multipart_rules rules,
                       struct request *ret_request, struct bytes *ret_body);

/* ---- answering ---- */

/* Adds an answer as a part. Its body must be in memory (BODY_BYTES) or absent.
 *
 * id      Content-ID of the part that it answers; ptr NULL: none
 * reason  of the status line */
void multipart_add(struct text *to, struct bytes boundary, struct bytes id,
                   const struct response *response, struct bytes reason);
/* The last boundary. No line end follows it, as recorded. */
void multipart_close(struct text *to, struct bytes boundary);

#endif
