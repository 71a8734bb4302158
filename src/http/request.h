/* What the head of a request asks of the server itself: how long the body is, whether 100 is waited
 * for, whether the connection goes on, which host it is for. Pure. Inside http/ only. Any thread. */
#ifndef LAGRA_HTTP_REQUEST_H
#define LAGRA_HTTP_REQUEST_H

#include "http/http.h"

struct request_asks {
    bool expects;   /* Expect: 100-continue, and a body */
    bool closes;    /* nothing is read after this request */
    bool keeps_1_0; /* HTTP/1.0 that asked for the connection to be kept */
};
/* Reads the headers that head_read() found, and sets the request's content_length, its authority where
 * the target had none, and is_forwarded where a header says so.
 *
 * minor    of the request's version
 * returns  0, or the status of the refusal: 400, 413, 417, 501 */
int request_read(struct request *request, unsigned minor, struct request_asks *ret_asks);

#endif
