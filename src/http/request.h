/* Interprets the headers of a request that concern the server: length of the body, Expect,
 * keep-alive, host. Pure. Internal to http/. Thread-safe. */
#ifndef LAGRA_HTTP_REQUEST_H
#define LAGRA_HTTP_REQUEST_H

#include "http/http.h"

struct request_asks {
    bool expects;   /* Expect: 100-continue, and a body */
    bool closes;    /* no further request is read on this connection */
    bool keeps_1_0; /* HTTP/1.0 with keep-alive */
};
/* Interprets the headers found by head_read(). Sets the request's content_length, authority (unless
 * the target has one) and is_forwarded (if there are proxy headers).
 *
 * minor    minor version of the request
 * returns  0, or the status of the refusal: 400, 413, 417, 501 */
int request_read(struct request *request, unsigned minor, struct request_asks *ret_asks);

#endif
