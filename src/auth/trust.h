/* Trust configuration for bearer tokens: which tokens are accepted, and what their principals may
 * do.
 *
 * (1) A token is accepted only if it is signed by a key of the configured set, with an algorithm of
 *     that key (RS256/384/512, ES256/384/512; never "none", never a shared secret), by the
 *     configured issuer, for an audience of this server or account, and at a time between nbf and
 *     exp.
 * (2) The principal (oid, else sub) has the permissions of the roles assigned to it in a scope
 *     that contains the account; without an assignment, none. The token itself grants no role. The
 *     configuration defines the subscription and resource group of accounts; other accounts are in
 *     none.
 * (3) In development mode (--oauth basic, like Azurite's) only the claims are checked, not the
 *     signature, and every user has all permissions.
 * (4) Tokens are accepted only over TLS. They are never logged.
 * rest: Authorize-with-Azure-Active-Directory; rfc: 7519 7.2; decision: 84, 250 */
#ifndef LAGRA_AUTH_TRUST_H
#define LAGRA_AUTH_TRUST_H

#include "auth/rights.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/errors.h"

struct trust_options {
    bool basic; /* development mode; the other members are then unused */
    /* development mode only for requests from this machine, not forwarded by a proxy */
    bool is_confined;
    const char *issuer;   /* "iss" of every token; NULL: no token is accepted */
    const char *audience; /* in addition to Azure's own; may be NULL */
    struct bytes keys;    /* a JSON Web Key Set */
    /* assignments as printed by `az role assignment list`; ptr NULL if none */
    struct bytes roles;
    struct bytes accounts; /* as printed by `az storage account list`; ptr NULL if none */
};

/* A one-line message for the operator, without secrets. */
struct trust_problem {
    char text[256];
};

struct trust; /* immutable */

/* Holds the current trust, so that it can be replaced while requests are served. */
struct trust_holder;
/* Takes ownership of the trust. */
struct trust_holder *trust_holder_new(struct trust *trust);
void trust_holder_free(struct trust_holder *holder);
/* Takes ownership of the trust. The previous one remains valid for its users. One thread at a
 * time. */
void trust_replace(struct trust_holder *holder, struct trust *trust);
/* Thread-safe. */
const struct trust *trust_now(const struct trust_holder *holder);

/* ret_problem: set if NULL is returned. */
struct trust *trust_new(const struct trust_options *options, struct trust_problem *ret_problem);
void trust_free(struct trust *trust);
bool trust_is_confined(const struct trust *trust);
/* Returns the number of assignments without effect: those for a subscription, a resource group or /
 * while no account's scope is configured. */
size_t trust_unplaced(const struct trust *trust);

/* The principal that a token identifies. Stored in the arena. */
struct principal {
    struct bytes oid;           /* never empty, at most PRINCIPAL_ID_MAX visible characters */
    struct bytes tid;           /* may be empty */
    const struct bytes *groups; /* claim "groups": ids that can be in access control lists */
    size_t group_count;
};
#define PRINCIPAL_ID_MAX     128
#define PRINCIPAL_GROUPS_MAX 256

/* Verifies a token ("eyJ..") for an account of a service ("blob").
 *
 * now         the wall clock
 * ret_detail  static; set with an error
 * returns     OK, E_AuthenticationFailed. Thread-safe. */
enum error trust_check(const struct trust *trust, struct bytes token, struct bytes account,
                       const char *service, instant now, struct arena *arena,
                       struct principal *ret_principal, struct bytes *ret_detail);

/* Returns the permitted actions (ACTION_ bits) in a container of the account; container.ptr NULL:
 * in the account. service: 'b', 'q', 't', 'f'. Returns 0 for a NULL trust. Thread-safe. */
unsigned trust_actions(const struct trust *trust, struct bytes oid, struct bytes account,
                       char service, struct bytes container);

#endif
