/* What a shared access signature says beside its letters, as the model knows it. */
#ifndef LAGRA_SIM_SAS_TERMS_H
#define LAGRA_SIM_SAS_TERMS_H

#include "request.h"

/* Is it within the times that the signature itself says, and its key? */
bool sas_is_in_time(const struct ask *ask);
/* NULL: it may be used from here, so; else the code of the refusal. */
const char *sas_refuses_peer(const struct ask *ask);
/* A policy as XML, as it is sent; a time with a fraction, as it is shown. */
void sas_format_policy(const struct stored_policy *policy, bool as_shown, char *to, size_t size);

#endif
