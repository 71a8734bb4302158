/* Inside fetch/ only: the head of an answer, as its lines come in. Pure. Its sender is not
 * trusted: what two readers might understand differently is refused (a folded line, one without a
 * colon, a blank in a name), and so is what is too long. */
#ifndef LAGRA_FETCH_HEAD_H
#define LAGRA_FETCH_HEAD_H

#include "fetch/fetch.h"

#define FETCH_HEADERS_MAX    128u
/* Of all heads on the way to the answer (redirects, 100 Continue) with its own. */
#define FETCH_HEAD_BYTES_MAX ((size_t)64 << 10)

struct fetch_head {
    struct arena *arena; /* of names and values */
    int status;          /* of the head that is coming in; 0: none that is understood */
    struct fetch_header headers[FETCH_HEADERS_MAX];
    size_t header_count;
    size_t bytes;
    bool is_open;     /* its status line was seen, its empty line was not */
    bool is_complete; /* of the answer itself: no redirect, nothing before it. Lines that come later
                       * (trailers) are passed over */
};

/* The next line, with or without its end. False: it is malformed, or all of them are too long. */
bool fetch_head_line(struct fetch_head *head, struct bytes line);
/* As fetch_header(). */
struct bytes fetch_head_find(const struct fetch_head *head, const char *name);

#endif
