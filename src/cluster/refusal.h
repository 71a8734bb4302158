/* Responses created by the front end itself. */
#ifndef LAGRA_CLUSTER_REFUSAL_H
#define LAGRA_CLUSTER_REFUSAL_H

#include "http/http.h"

/* Sends a plain response. type, body: static or in the exchange's arena. */
enum http_step refusal_respond(struct exchange *exchange, int status, const char *type,
                               struct bytes body);
/* Sends 503 ServerBusy with Retry-After: the request was not executed. is_json: use the Table
 * service's format. rest: Status-and-Error-Codes2 */
enum http_step refusal_busy(struct exchange *exchange, bool is_json);

#endif
