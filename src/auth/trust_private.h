/* Inside of auth/ only: the parts of what tokens are checked against. */
#ifndef LAGRA_AUTH_TRUST_PRIVATE_H
#define LAGRA_AUTH_TRUST_PRIVATE_H

#include <jansson.h>

#include "auth/trust.h"

/* ---- public keys: key_set.c ---- */

struct key_set;
/* NULL: *ret_problem says why. Keys of other uses and kinds are passed over; one at least is
 * left. */
struct key_set *key_set_new(struct bytes json, const char **ret_problem);
void key_set_free(struct key_set *set);
/* Was `text` signed by a key of the set? alg: of the token; kid: ptr NULL when it names none. */
bool key_set_signed(const struct key_set *set, struct bytes alg, struct bytes kid,
                    struct bytes text, struct bytes signature);

/* ---- assignments of roles: roles.c ---- */

struct roles;
/* NULL: *ret_problem says why. */
struct roles *roles_new(struct bytes json, const char **ret_problem);
void roles_free(struct roles *roles);
unsigned roles_actions(const struct roles *roles, struct bytes oid, struct bytes account,
                       char service, struct bytes container);

/* A member of an object as text that is not empty; ptr NULL: it has none. */
struct bytes json_text(const json_t *object, const char *name);

#endif
