/* The head of a request as text: where it ends, and what its lines say. What the headers mean for
 * the server is request.c's.
 *
 * Pure: bytes in, structs out. Everything about which two parsers might disagree is refused (rfc:
 * 9112 11.2): a line that ends with LF alone, a folded line, a blank before a colon, a control
 * character. Inside http/ only. Any thread. */
#ifndef LAGRA_HTTP_HEAD_H
#define LAGRA_HTTP_HEAD_H

#include "http/http.h"

#define HEAD_HEADERS_MAX      256u
/* Of the header lines together. What is stored of them must fit into the head of an answer
 * (ANSWER_HEAD_BYTES), beside what another request may have stored (metadata: 8 KiB). */
#define HEAD_HEADERS_SIZE_MAX ((size_t)16 * 1024)

/* How far a head has been looked through while it comes in. Zeroed: not at all. Positions count from
 * the first byte of the input. */
struct head_scan {
    size_t begin;   /* of the request line; empty lines may come before it */
    size_t scanned; /* no line ends between the last end and here */
    size_t line;    /* the line that is not complete yet begins here */
    size_t lines;   /* that are complete; the empty one does not count */
    size_t end;     /* HEAD_WHOLE: behind the empty line */
};
enum head_found { HEAD_PART, HEAD_WHOLE, HEAD_MALFORMED };
/* Looks for the end of the head; of a longer input only at what is new. After HEAD_PART the same
 * input is to be given again with more behind it. */
enum head_found head_find(struct head_scan *scan, struct bytes input);
/* The first `size` bytes of the input, which are before scan->begin, are there no more. */
void head_forget(struct head_scan *scan, size_t size);

/* Reads a head that head_find() found, from its request line to its empty line. Sets
 * method, method_text, authority (of an absolute-form), path, query, headers and header_count of the
 * request, which point into `head`, lie in the arena or are constant. A value is followed in memory by what the client sent behind it: blanks, CR.
 *
 * ret_minor  of the version: 0 or 1
 * returns    0, or the status of the refusal: 400, 431, 505 */
int head_read(struct arena *arena, struct bytes head, size_t lines, struct request *request,
              unsigned *ret_minor);

#endif
