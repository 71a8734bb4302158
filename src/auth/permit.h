/* Authorization: decides for all services whether an identity has the rights that an operation's
 * row requires.
 *
 * Pure, without HTTP: called before the body is read with the facts known then, and again with each
 * decision on the state that is decided on; so a revoked policy, or a container that is no longer
 * public, takes effect at once. */
#ifndef LAGRA_AUTH_PERMIT_H
#define LAGRA_AUTH_PERMIT_H

#include "auth/identity.h"
#include "auth/policies.h"
#include "base/errors.h"

/* Result of the access control lists of a hierarchical container for one caller. */
enum acl_result {
    ACL_NONE, /* not subject to lists */
    ACL_REFUSES,
    ACL_PERMITS,
};

/* The state that authorization depends on. */
struct permit_facts {
    bool known;  /* false: other members unset; an error then means that no state permits it */
    bool exists; /* the resource exists */
    enum public_access access;
    struct policies policies;
    /* error for a SAS whose scope is a part of the resource other than this one; OK if within its
     * scope */
    enum error outside;
    /* for the identity, if its actions do not suffice, and for the agent of its SAS; while `known`
     * is false, ACL_PERMITS if they may permit it */
    enum acl_result acl, acl_of_agent;
};

/* Checks the rights.
 *
 * arena       for the detail
 * ret_detail  a sentence for the client (AuthenticationErrorDetail); set only with
 *             E_AuthenticationFailed
 * returns     OK
 *             E_NoAuthenticationInformation, E_ResourceNotFound, E_PublicAccessNotPermitted
 *                                            anonymous, and the container is not public
 *             E_AuthenticationFailed         the policy does not exist or is not valid now; only
 *                                            the owner of a token is permitted
 *             E_AuthorizationResourceTypeMismatch, E_AuthorizationPermissionMismatch
 *             E_AuthorizationFailure         no SAS or token of this kind is ever permitted
 *             E_UnauthorizedBlobOverwrite    may create, but the blob exists
 *             facts->outside */
enum error permit(const struct rights *needed, const struct demands *demands,
                  const struct identity *identity, const struct permit_facts *facts,
                  struct arena *arena, struct bytes *ret_detail);

#endif
