/* Security identifiers: as text, by a name of two letters or as "S-1-5-32-544", and binary.
 * [MS-DTYP] 2.4.2.1, 2.4.2.2, 2.5.1.1 ("sid-token"). Pure, any thread. */
#ifndef LAGRA_FILE_SID_H
#define LAGRA_FILE_SID_H

#include "base/arena.h"

/* Those that the code asks for, binary. [MS-DTYP] 2.4.2.4 */
extern const struct bytes sid_everyone, sid_creator_owner, sid_creator_group, sid_owner_rights;
extern const struct bytes sid_network, sid_authenticated_users, sid_system, sid_builtin_users;

#define SID_SYSTEM BYTES("\x01\x01\0\0\0\0\0\x05\x12\0\0\0")

/* Takes a SID off the front. False: there is none, or its name is relative to a domain. */
bool sid_take(struct arena *arena, struct bytes *text, struct bytes *ret_sid);
/* By its name, if it has one. sid: a valid one. */
void sid_add_text(struct text *out, struct bytes sid);

#endif
