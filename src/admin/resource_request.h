/* Sends internal requests about containers, queues, tables and shares (internal to admin/).
 * Functions that return bool return false after failing the call. */
#ifndef LAGRA_ADMIN_RESOURCE_REQUEST_H
#define LAGRA_ADMIN_RESOURCE_REQUEST_H

#include "admin/admin_private.h"
#include "request/cell_request.h"

/* Finds the named account, or the only account if none is named. */
bool resource_find_account(struct admin_call *call, struct bytes given, struct bytes *ret_name);
/* Refuses a container name that URL normalization would change, because the request would address
 * another container. decision: 39 */
bool resource_check_name(struct admin_call *call, const char *service, struct bytes name);
struct bytes resource_path(struct arena *arena, struct bytes account, struct bytes name);
/* Sends an internal request to a service, and fails the call with the service's error. */
bool resource_request(struct admin_call *call, const char *service,
                      const struct internal_request *request, struct internal_response *ret_answer);

#endif
