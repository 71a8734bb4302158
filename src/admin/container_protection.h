/* Protects containers: commands (internal to admin/). See blob/container_immutability.h. */
#ifndef LAGRA_ADMIN_CONTAINER_PROTECTION_H
#define LAGRA_ADMIN_CONTAINER_PROTECTION_H

#include "admin/admin_private.h"

/* Closes the call's container before its deletion, so that nothing is created in it once the
 * deletion has found that it is empty. Leaves a container open that is not protected. Returns false
 * if it does not exist or cannot be closed; the call has then failed. */
bool container_close(struct admin_call *call, struct bytes account, bool *ret_is_closed);
/* Opens a container again that container_close() has closed. Logs a failure. */
void container_reopen(struct admin_call *call, struct bytes account);

#endif
