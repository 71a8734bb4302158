/* The access check of [MS-DTYP] 2.5.3.2 for directories and files, without privileges. Pure,
 * thread-safe. */
#ifndef LAGRA_ACL_ACCESS_CHECK_H
#define LAGRA_ACL_ACCESS_CHECK_H

#include "acl/access_mask.h"
#include "acl/security_descriptor.h"

/* S-1-5-21-a-b-c-RID: five subauthorities. */
#define TOKEN_SID_BYTES (8u + 4u * 5u)

/* A caller: its user SID and primary group SID, which become owner and group of the files it
 * creates. It also belongs to Everyone, Authenticated Users, Network and BUILTIN\Users. It can
 * traverse all directories (SeChangeNotifyPrivilege, which everyone has by default). It has no
 * other privilege, so it can neither read nor set a SACL. */
struct access_token {
    char user[TOKEN_SID_BYTES];
    char group[TOKEN_SID_BYTES];
};

/* Returns the token of a client that has logged on with an account key. The SIDs are derived
 * from the account name, so they are the same on every server and after a restore. decision: 440 */
struct access_token access_token_of_account(struct bytes account);

static inline struct bytes access_token_user(const struct access_token *token)
{
    return bytes_of(token->user, sizeof token->user);
}
static inline struct bytes access_token_group(const struct access_token *token)
{
    return bytes_of(token->group, sizeof token->group);
}
bool access_token_has(const struct access_token *token, struct bytes sid);

/* Returns the rights of MAY_ALL that the descriptor grants to the token. The first ACE that
 * applies to the token and mentions a right decides that right, so a request for several rights
 * is granted if the result has them all.
 *  - The owner has READ_CONTROL and WRITE_DAC without an ACE, unless one names OWNER RIGHTS.
 *  - Files have no object types: an allow ACE with an object type grants nothing, a deny ACE
 *    with one still denies. */
uint32_t access_check(const struct security_descriptor *descriptor,
                      const struct access_token *token);

#endif
