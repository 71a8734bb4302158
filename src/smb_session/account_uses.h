/* Resources that the clients of an account use over all its connections, each with a limit
 * (limits.h). Thread-safe. */
#ifndef LAGRA_SMB_SESSION_ACCOUNT_USES_H
#define LAGRA_SMB_SESSION_ACCOUNT_USES_H

#include <stdbool.h>

#include "base/bytes.h"

enum account_use {
    USES_DURABLE, /* disconnected durable handles: SMB_KEPT_OF_ACCOUNT_MAX */
    USES_PARKED,  /* parked requests: SMB_PARKED_OF_ACCOUNT_MAX */
    USES_WATCHES, /* watched directories: SMB_WATCHES_OF_ACCOUNT_MAX */
    ACCOUNT_USES
};

struct account_uses;
struct account_uses *account_uses_new(void);
void account_uses_free(struct account_uses *uses);
/* Adds one use. Returns false if the account has reached its limit. */
bool account_use_begin(struct account_uses *uses, struct bytes account, enum account_use use);
/* Adds one use without checking the limit. */
void account_use_add(struct account_uses *uses, struct bytes account, enum account_use use);
/* Ends a use counted by account_use_add() or by a successful account_use_begin(). */
void account_use_end(struct account_uses *uses, struct bytes account, enum account_use use);

#endif
