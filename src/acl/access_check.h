/* Access rights, and the access check of [MS-DTYP] 2.5.3.2 for directories and files, without
 * privileges. Pure, thread-safe. */
#ifndef LAGRA_ACL_ACCESS_CHECK_H
#define LAGRA_ACL_ACCESS_CHECK_H

#include "acl/security_descriptor.h"
#include "concurrency/opens.h"

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

/* Access rights of opens of files and directories: MS-DTYP 2.4.3, MS-SMB2 2.2.13.1. */

#define MAY_READ_DATA        UINT32_C(0x00000001) /* directories: list entries */
#define MAY_WRITE_DATA       UINT32_C(0x00000002) /* directories: add a file */
#define MAY_APPEND_DATA      UINT32_C(0x00000004) /* directories: add a subdirectory */
#define MAY_READ_EA          UINT32_C(0x00000008)
#define MAY_WRITE_EA         UINT32_C(0x00000010)
#define MAY_EXECUTE          UINT32_C(0x00000020) /* directories: traverse */
#define MAY_DELETE_CHILD     UINT32_C(0x00000040)
#define MAY_READ_ATTRIBUTES  UINT32_C(0x00000080)
#define MAY_WRITE_ATTRIBUTES UINT32_C(0x00000100)
#define MAY_DELETE           UINT32_C(0x00010000)
#define MAY_READ_CONTROL     UINT32_C(0x00020000)
#define MAY_WRITE_DAC        UINT32_C(0x00040000)
#define MAY_WRITE_OWNER      UINT32_C(0x00080000)
#define MAY_SYNCHRONIZE      UINT32_C(0x00100000)
#define MAY_ACCESS_SACL      UINT32_C(0x01000000)
#define MAY_MAXIMUM          UINT32_C(0x02000000) /* MAXIMUM_ALLOWED */
#define MAY_GENERIC_ALL      UINT32_C(0x10000000)
#define MAY_GENERIC_EXECUTE  UINT32_C(0x20000000)
#define MAY_GENERIC_WRITE    UINT32_C(0x40000000)
#define MAY_GENERIC_READ     UINT32_C(0x80000000)

/* All rights of files except ACCESS_SYSTEM_SECURITY. MS-SMB2 2.2.13.1.1 */
#define MAY_ALL              UINT32_C(0x001F01FF)

/* The read-only rights of MAY_ALL. */
#define MAY_READ                                                                                   \
    (MAY_READ_DATA | MAY_READ_EA | MAY_EXECUTE | MAY_READ_ATTRIBUTES | MAY_READ_CONTROL |          \
     MAY_SYNCHRONIZE)

/* Maps generic rights to the specific rights of files. Retains MAY_MAXIMUM. MS-DTYP 2.4.3;
 * MS-FSA 2.1.5.1 */
uint32_t access_mask_mapped(uint32_t mask);
/* Returns the ACCESS_* bits that take part in sharing checks, 0 for attribute-only access.
 * MS-FSA 2.1.5.1.2.2 */
uint8_t access_mask_shares(uint32_t mask);
/* Returns the kinds of other clients' write caching that conflict with this access (MEETS_*).
 * MS-FSA 2.1.4.12, 2.1.5.1.2.2 */
uint8_t access_mask_meets(uint32_t mask);

#endif
