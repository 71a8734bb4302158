/* Commands that protect containers; see blob/container_immutability.h. Internal to admin/. */
#ifndef LAGRA_ADMIN_CONTAINER_PROTECTION_H
#define LAGRA_ADMIN_CONTAINER_PROTECTION_H

#include "admin/admin_private.h"

/* Closes the call's container before its deletion, so that nothing can be created in it after the
 * deletion has found it empty. Does not close a container without protection. Returns false after
 * failing the call if it does not exist or cannot be closed. */
bool container_close(struct admin_call *call, struct bytes account, bool *ret_is_closed);
/* Reopens a container that container_close() has closed. Logs a failure. */
void container_reopen(struct admin_call *call, struct bytes account);

#endif
