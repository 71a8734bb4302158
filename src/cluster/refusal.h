/* Responses that a front end makes itself. */
#ifndef LAGRA_CLUSTER_REFUSAL_H
#define LAGRA_CLUSTER_REFUSAL_H

#include "http/http.h"

/* A plain response. type, body: static or in the exchange's arena. */
enum http_step refusal_respond(struct exchange *exchange, int status, const char *type,
                               struct bytes body);
/* 503 ServerBusy with Retry-After: the request was not executed. is_json: in the form of the Table service.
 * rest: Status-and-Error-Codes2 */
enum http_step refusal_busy(struct exchange *exchange, bool is_json);

#endif
