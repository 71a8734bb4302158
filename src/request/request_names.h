/* What a request is about, found before it is authenticated and without knowing any account: for a front end of a cluster that
 * has to find the cell which executes it. */
#ifndef LAGRA_REQUEST_REQUEST_NAMES_H
#define LAGRA_REQUEST_REQUEST_NAMES_H

#include "service/server.h"

/* Finds the account, without "-secondary", and the container, queue, table or share, as the service compares names. Returns false
 * if the request names none, or names it in its body, or is malformed: then any cell responds alike.
 *
 * endpoint  of the service; only `service` and `options` matter, `accounts` is NULL */
bool request_names(const struct endpoint *endpoint, const struct request *request,
                   struct arena *arena, struct bytes *ret_account, struct bytes *ret_container);

#endif
