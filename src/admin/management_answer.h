/* Responses of the management port. Internal to admin/. */
#ifndef LAGRA_ADMIN_MANAGEMENT_ANSWER_H
#define LAGRA_ADMIN_MANAGEMENT_ANSWER_H

#include "http/http.h"

/* Fills in the response. type: static; body: in the exchange's arena or static. Returns
 * HTTP_RESPOND. */
enum http_step management_answer(struct exchange *exchange, int status, const char *type,
                                 struct bytes body);

#endif
