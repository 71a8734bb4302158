/* Answers of the management port. Inside of admin/ only. */
#ifndef LAGRA_ADMIN_MANAGEMENT_ANSWER_H
#define LAGRA_ADMIN_MANAGEMENT_ANSWER_H

#include "http/http.h"

/* type: static; body: in the exchange's arena or static. returns HTTP_RESPOND */
enum http_step management_answer(struct exchange *exchange, int status, const char *type,
                                 struct bytes body);

#endif
