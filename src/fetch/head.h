/* Internal to fetch/: the header section of a response, line by line as it arrives. Pure. The
 * sender is not trusted: anything that two parsers might interpret differently is refused (a folded
 * line, a line without a colon, a space in a name), and so is too much data. */
#ifndef LAGRA_FETCH_HEAD_H
#define LAGRA_FETCH_HEAD_H

#include "fetch/fetch.h"

#define FETCH_HEADERS_MAX    128u
/* Maximum of all header sections together, including redirects and 100 Continue. */
#define FETCH_HEAD_BYTES_MAX ((size_t)64 << 10)

struct fetch_head {
    struct arena *arena; /* for names and values */
    int status;          /* of the current header section; 0 if not understood */
    struct fetch_header headers[FETCH_HEADERS_MAX];
    size_t header_count;
    size_t bytes;
    bool is_open; /* between status line and empty line */
    /* set after the final response's header section (not a redirect or 1xx); later lines (trailers)
     * are ignored */
    bool is_complete;
};

/* Processes the next line, with or without its line end. Returns false if it is malformed, or the
 * total is too long. */
bool fetch_head_line(struct fetch_head *head, struct bytes line);
/* Like fetch_header(). */
struct bytes fetch_head_find(const struct fetch_head *head, const char *name);

#endif
