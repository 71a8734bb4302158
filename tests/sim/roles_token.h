/* Bearer tokens of the principals, and what may be wrong with them. Known to roles.c only. */
#ifndef LAGRA_SIM_ROLES_TOKEN_H
#define LAGRA_SIM_ROLES_TOKEN_H

#include "base/bytes.h"

struct arena;

#define PRINCIPALS   3u
#define TOKEN_ISSUER "https://sts.windows.net/t/"

/* What is wrong with a token. */
enum flaw {
    NO_FLAW,
    IS_EXPIRED,
    IS_EARLY,
    OF_OTHER_ISSUER,
    FOR_OTHERS,
    FOR_OTHER_ACCOUNT,
    IS_FORGED,  /* a bit of the signature is wrong */
    IS_ALTERED, /* signed for another principal */
    IS_UNSIGNED,
    IS_NOT_SECURE, /* sent without TLS */
    FLAWS
};
extern const char *const token_flaws[FLAWS];

/* Returns the JSON Web Key Set of the issuer. */
struct bytes token_keys(struct arena *arena);

#endif
