/* Whose bearer tokens count, and what their owners may do.
 *
 * (1) A token is admitted only when it is signed by a key of the configured set, with an algorithm
 *     of that key (RS256/384/512, ES256/384/512; never "none", never a shared secret), by the
 *     configured issuer, for an audience of this server or account, and at a time between nbf and
 *     exp.
 * (2) Its owner (oid, else sub) may do what the roles do that were assigned to him in a scope that
 *     the account is in; without an assignment, nothing. The token itself gives no role. An account
 *     is in the subscription and resource group that the configuration says, else in none.
 * (3) In the development mode (--oauth basic, Azurite's) signatures are not looked at and everybody
 *     may do everything: claims alone are checked.
 * (4) Tokens are taken over TLS only. They are never logged.
 * rest: Authorize-with-Azure-Active-Directory; rfc: 7519 7.2; decision: 84, 250 */
#ifndef LAGRA_AUTH_TRUST_H
#define LAGRA_AUTH_TRUST_H

#include "auth/rights.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/errors.h"

struct trust_options {
    bool basic;           /* the development mode; then nothing of what follows is used */
    bool is_confined;     /* that mode is for this machine alone: for what no proxy forwards */
    const char *issuer;   /* "iss" of every token; NULL: no token is taken */
    const char *audience; /* beside Azure's own; may be NULL */
    struct bytes keys;    /* a JSON Web Key Set */
    struct bytes roles;   /* assignments as `az role assignment list` prints them; ptr NULL: none */
    struct bytes accounts; /* as `az storage account list` prints them; ptr NULL: none */
};

/* For the operator, in one line; nothing secret. */
struct trust_problem {
    char text[256];
};

struct trust; /* immutable */

/* Where the trust of the moment is found, so that it can be replaced while requests are served. */
struct trust_holder;
/* Takes the trust over. */
struct trust_holder *trust_holder_new(struct trust *trust);
void trust_holder_free(struct trust_holder *holder);
/* Takes the trust over; the one before stays valid for who has it. One thread at a time. */
void trust_replace(struct trust_holder *holder, struct trust *trust);
/* Any thread. */
const struct trust *trust_now(const struct trust_holder *holder);

/* ret_problem  set when NULL is returned */
struct trust *trust_new(const struct trust_options *options, struct trust_problem *ret_problem);
void trust_free(struct trust *trust);
bool trust_is_confined(const struct trust *trust);
/* Assignments that open nothing: of a subscription, a resource group or all, while nothing says
 * where accounts are. */
size_t trust_unplaced(const struct trust *trust);

/* The owner of a token. In the arena. */
struct principal {
    struct bytes oid; /* never empty, at most PRINCIPAL_ID_MAX visible characters */
    struct bytes tid; /* may be empty */
};
#define PRINCIPAL_ID_MAX 128

/* Checks a token ("eyJ.."), for an account of a service ("blob").
 *
 * now         the wall clock
 * ret_detail  static; set with an error
 * returns     OK, E_AuthenticationFailed. Any thread. */
enum error trust_check(const struct trust *trust, struct bytes token, struct bytes account,
                       const char *service, instant now, struct arena *arena,
                       struct principal *ret_principal, struct bytes *ret_detail);

/* What somebody may do (ACTION_ bits) in a container of an account; container.ptr NULL: in the
 * account. service: 'b', 'q', 't', 'f', whose containers are meant. NULL trust: nothing. Any thread. */
unsigned trust_actions(const struct trust *trust, struct bytes oid, struct bytes account,
                       char service, struct bytes container);

#endif
