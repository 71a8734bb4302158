/* Get User Delegation Key of every service that has one: the key signs for that service alone.
 * user_delegation_key.c decides, user_delegation_key_xml.c reads the request and renders the
 * answer.
 * rest: Get-User-Delegation-Key */
#ifndef LAGRA_SERVICE_USER_DELEGATION_KEY_H
#define LAGRA_SERVICE_USER_DELEGATION_KEY_H

#include "service/decision.h"

struct get_user_delegation_key_parameters {
    struct parameters base;
    /* by parse; whole seconds */
    instant start; /* 0: from now on */
    instant expiry;
    struct bytes user_tid; /* tenant of those who may use what it signs; ptr NULL: not said */
};
struct get_user_delegation_key_result {
    struct result base;
    instant start;
};
OPERATION_DECLARE(get_user_delegation_key);
OPERATION_DECLARE_PARSE(get_user_delegation_key);

#endif
