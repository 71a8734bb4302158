/* Internal to admin/: parts of the management port. */
#ifndef LAGRA_ADMIN_MANAGEMENT_ANSWER_H
#define LAGRA_ADMIN_MANAGEMENT_ANSWER_H

#include "admin/management.h"
#include "http/http.h"

/* Fills in the response. type: static; body: in the exchange's arena or static. Returns
 * HTTP_RESPOND. */
enum http_step management_answer(struct exchange *exchange, int status, const char *type,
                                 struct bytes body);

/* Prints values that are measured on request: of the process (with the names used by Prometheus'
 * own clients), of the store, and of the build. figures.c */
void figures_print(struct text *to, const struct management *management);

#endif
