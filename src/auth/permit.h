/* May this identity do what a row of an operation table says? The one judge, for all services.
 *
 * Pure, without HTTP: it is asked before the body is read with what is known then, and again with
 * each decision on the state that is decided on; so a policy that is revoked, or a container that
 * is no longer public, counts at once. */
#ifndef LAGRA_AUTH_PERMIT_H
#define LAGRA_AUTH_PERMIT_H

#include "auth/identity.h"
#include "auth/policies.h"
#include "base/errors.h"

/* The state that bears on it. */
struct permit_facts {
    bool
        known; /* false: nothing of what follows; then an error says that no state could allow it */
    bool exists; /* what the operation is about */
    enum public_access access;
    struct policies policies;
    enum error outside; /* what a SAS is refused by that opens only a part of the resource, and not
                         * this one; OK: it opens it */
};

/* arena       for the detail
 * ret_detail  a sentence for the client (AuthenticationErrorDetail); set with
 *             E_AuthenticationFailed only
 * returns     OK
 *             E_NoAuthenticationInformation, E_ResourceNotFound, E_PublicAccessNotPermitted
 *                                            nobody is presented, and the container is not public
 *             E_AuthenticationFailed         the policy is not there, or not valid now; only a
 *                                            token's owner may
 *             E_AuthorizationResourceTypeMismatch, E_AuthorizationPermissionMismatch
 *             E_AuthorizationFailure         no SAS or token of this kind can do it
 *             E_UnauthorizedBlobOverwrite    may create, and it exists
 *             facts->outside */
enum error permit(const struct rights *needed, const struct demands *demands,
                  const struct identity *identity, const struct permit_facts *facts,
                  struct arena *arena, struct bytes *ret_detail);

#endif
