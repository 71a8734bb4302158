/* Security identifiers: as text, by a two-letter alias or as "S-1-5-32-544", and binary.
 * [MS-DTYP] 2.4.2.1, 2.4.2.2, 2.5.1.1 ("sid-token"). Pure, thread-safe. */
#ifndef LAGRA_ACL_SID_H
#define LAGRA_ACL_SID_H

#include "base/arena.h"

/* Well-known SIDs used by the code, binary. [MS-DTYP] 2.4.2.4 */
extern const struct bytes sid_everyone, sid_creator_owner, sid_creator_group, sid_owner_rights;
extern const struct bytes sid_network, sid_authenticated_users, sid_system, sid_builtin_users;

#define SID_SYSTEM BYTES("\x01\x01\0\0\0\0\0\x05\x12\0\0\0")

/* Parses a SID at the start of *text and advances past it. Returns false if none exists, or if
 * its alias is domain-relative. */
bool sid_take(struct arena *arena, struct bytes *text, struct bytes *ret_sid);
/* Appends a SID, by its alias if it has one. sid: valid */
void sid_add_text(struct text *out, struct bytes sid);

#endif
