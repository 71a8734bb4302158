/* Get User Delegation Key, for all services that have it. The key can only sign for its own
 * service. user_delegation_key.c decides, reads the request and renders the response.
 * rest: Get-User-Delegation-Key */
#ifndef LAGRA_SERVICE_USER_DELEGATION_KEY_H
#define LAGRA_SERVICE_USER_DELEGATION_KEY_H

#include "service/decision.h"

struct get_user_delegation_key_parameters {
    struct parameters base;
    /* set by parse; whole seconds */
    instant start; /* 0 for now */
    instant expiry;
    /* tenant of the users who may use its signatures; ptr NULL if any */
    struct bytes user_tid;
};
struct get_user_delegation_key_result {
    struct result base;
    instant start;
};
OPERATION_DECLARE(get_user_delegation_key);
OPERATION_DECLARE_PARSE(get_user_delegation_key);

#endif
