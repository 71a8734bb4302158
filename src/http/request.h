/* Interprets the headers of a request that concern the server: length of the body, Expect,
 * keep-alive, host. Pure. Internal to http/. Thread-safe. */
#ifndef LAGRA_HTTP_REQUEST_H
#define LAGRA_HTTP_REQUEST_H

#include "http/http.h"

struct request_asks {
    bool expects;   /* Expect: 100-continue, and a body */
    bool closes;    /* nothing is read after this request */
    bool keeps_1_0; /* HTTP/1.0 with keep-alive */
};
/* Reads the headers found by head_read(), and sets the request's content_length, its authority if
 * the target had none, and is_forwarded if there are proxy headers.
 *
 * minor    of the request's version
 * returns  0, or the status of the refusal: 400, 413, 417, 501 */
int request_read(struct request *request, unsigned minor, struct request_asks *ret_asks);

#endif
