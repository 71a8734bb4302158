/* Parses the header section of a request. request.c interprets the headers that the server itself
 * uses.
 *
 * Pure. Refuses anything that two parsers might interpret differently (rfc: 9112 11.2): bare LF,
 * folded lines, a space before a colon, control characters. Internal to http/. Thread-safe. */
#ifndef LAGRA_HTTP_HEAD_H
#define LAGRA_HTTP_HEAD_H

#include "http/http.h"

#define HEAD_HEADERS_MAX      256u
/* Maximum size of all header lines. The headers that it lets a request store, and metadata stored
 * by other requests (8 KiB), must fit into the header section of a response (ANSWER_HEAD_BYTES). */
#define HEAD_HEADERS_SIZE_MAX ((size_t)16 * 1024)

/* Progress of scanning a header section as it arrives; initially zeroed. Positions are relative to
 * the first byte of the input. */
struct head_scan {
    size_t begin;   /* of the request line; empty lines may precede it */
    size_t scanned; /* no line end between `line` and here */
    size_t line;    /* start of the incomplete line */
    size_t lines;   /* number of complete lines, without the empty one */
    size_t end;     /* HEAD_WHOLE: after the empty line */
};
enum head_found { HEAD_PART, HEAD_WHOLE, HEAD_MALFORMED };
/* Searches for the end of the header section, scanning only new bytes. After HEAD_PART, call it
 * again with more bytes appended to the same input. */
enum head_found head_find(struct head_scan *scan, struct bytes input);
/* Adjusts the positions after the caller has removed the first `size` bytes of the input, which
 * must precede scan->begin. */
void head_forget(struct head_scan *scan, size_t size);

/* Parses a header section found by head_find(). Sets method, method_text, authority (of an
 * absolute-form target), path, query, headers and header_count of the request; they point into
 * `head` or the arena, or are constant. Each value is followed in memory by what the client sent
 * after it (spaces, CR).
 *
 * ret_minor  minor version: 0 or 1
 * returns    0, or the status of the refusal: 400, 431, 505 */
int head_read(struct arena *arena, struct bytes head, size_t lines, struct request *request,
              unsigned *ret_minor);

#endif
