/* Shared access signatures of version 2020-08-04: of a container by letters, by a stored policy, by
 * a user delegation key; of the account. */
#ifndef LAGRA_SIM_SAS_H
#define LAGRA_SIM_SAS_H

#include <nettle/hmac.h>

#include "auth/auth.h"
#include "request.h"

/* To a query, as the ask says. key: the account's, prepared. */
void sas_add(const struct ask *ask, const struct hmac_sha256_ctx *key,
             const struct account *account, struct text *query);

#endif
