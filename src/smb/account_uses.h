/* What the clients of an account use on all connections together, each with a limit (limits.h). Thread-safe. */
#ifndef LAGRA_SMB_ACCOUNT_USES_H
#define LAGRA_SMB_ACCOUNT_USES_H

#include <stdbool.h>

#include "base/bytes.h"

enum account_use {
    USES_KEPT,    /* disconnected handles: SMB_KEPT_OF_ACCOUNT_MAX */
    USES_PARKED,  /* requests that wait: SMB_PARKED_OF_ACCOUNT_MAX */
    USES_WATCHES, /* watched directories: SMB_WATCHES_OF_ACCOUNT_MAX */
    ACCOUNT_USES
};

struct account_uses;
struct account_uses *account_uses_new(void);
void account_uses_free(struct account_uses *uses);
/* Counts one more. Returns false if the account has reached the limit. */
bool account_use_begin(struct account_uses *uses, struct bytes account, enum account_use use);
/* Counts one more, whatever the limit is. */
void account_use_add(struct account_uses *uses, struct bytes account, enum account_use use);
/* Counts one less, after account_use_add(), or account_use_begin() that returned true. */
void account_use_end(struct account_uses *uses, struct bytes account, enum account_use use);

#endif
