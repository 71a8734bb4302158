/* What a security descriptor lets somebody do: the access check of [MS-DTYP] 2.5.3.2, for directories and files, and
 * for tokens without privileges. Pure, any thread. */
#ifndef LAGRA_FILE_ACCESS_CHECK_H
#define LAGRA_FILE_ACCESS_CHECK_H

#include "file/access_mask.h"
#include "file/security_descriptor.h"

/* S-1-5-21-a-b-c-RID: five numbers. */
#define TOKEN_SID_BYTES (8u + 4u * 5u)

/* The caller: its own SID and its primary group's, which own what it makes. Beside these it is one of Everyone,
 * Authenticated Users, Network and BUILTIN\Users. It may pass through every directory (SeChangeNotifyPrivilege, as
 * everybody has it by default) and has no other privilege: it never reads or sets a SACL. */
struct access_token {
    char user[TOKEN_SID_BYTES];
    char group[TOKEN_SID_BYTES];
};

/* Of who has logged on with a key of the account. The SIDs follow from the account's name, so that they are the same
 * on every server that has the account, and after a restore. decision: 440 */
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

/* All rights of MAY_ALL that it has. Each right is decided by the first entry that is about it and about the token, so
 * that a request for several is granted if all of them are in the result: the two modes of the algorithm are one.
 *  - The owner may read the descriptor and write its DACL, whatever the entries say, unless one is for OWNER RIGHTS.
 *  - An entry that allows an object type allows nothing, as files have no object types; one that denies it denies. */
uint32_t access_check(const struct security_descriptor *descriptor,
                      const struct access_token *token);

#endif
