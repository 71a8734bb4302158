/* Parses the header section of a request into lines and their parts. request.c interprets the
 * headers that the server uses.
 *
 * Pure: bytes in, structs out. Refuses anything that two parsers might interpret differently
 * (rfc: 9112 11.2): a line that ends with LF only, a folded line, a space before a colon, a control
 * character. Internal to http/. Thread-safe. */
#ifndef LAGRA_HTTP_HEAD_H
#define LAGRA_HTTP_HEAD_H

#include "http/http.h"

#define HEAD_HEADERS_MAX      256u
/* Maximum of all header lines together. The stored headers of an object must fit into a response's
 * header section (ANSWER_HEAD_BYTES), together with data stored by other requests (metadata: 8
 * KiB). */
#define HEAD_HEADERS_SIZE_MAX ((size_t)16 * 1024)

/* Progress of scanning a header section as it arrives; initially zeroed. Positions are relative to
 * the first byte of the input. */
struct head_scan {
    size_t begin;   /* of the request line; empty lines may precede it */
    size_t scanned; /* there is no line end between the last one and here */
    size_t line;    /* start of the incomplete line */
    size_t lines;   /* complete lines, without the empty one */
    size_t end;     /* HEAD_WHOLE: after the empty line */
};
enum head_found { HEAD_PART, HEAD_WHOLE, HEAD_MALFORMED };
/* Searches for the end of the header section, scanning only new bytes. After HEAD_PART, call it
 * again with the same input and more bytes appended. */
enum head_found head_find(struct head_scan *scan, struct bytes input);
/* Adjusts positions after removing the first `size` bytes of the input, which are before
 * scan->begin. */
void head_forget(struct head_scan *scan, size_t size);

/* Parses a header section found by head_find(), from request line to empty line. Sets method,
 * method_text, authority (of an absolute-form), path, query, headers and header_count of the
 * request, which point into `head`, or are in the arena or constant. The bytes that the client sent
 * after a value (spaces, CR) follow it in memory.
 *
 * ret_minor  of the version: 0 or 1
 * returns    0, or the status of the refusal: 400, 431, 505 */
int head_read(struct arena *arena, struct bytes head, size_t lines, struct request *request,
              unsigned *ret_minor);

#endif
