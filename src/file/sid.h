/* Security identifiers: as text, by a name of two letters or as "S-1-5-32-544", and binary.
 * [MS-DTYP] 2.4.2.1, 2.4.2.2, 2.5.1.1 ("sid-token"). Pure, any thread. */
#ifndef LAGRA_FILE_SID_H
#define LAGRA_FILE_SID_H

#include "base/arena.h"

/* Takes a SID off the front. False: there is none, or its name is relative to a domain. */
bool sid_take(struct arena *arena, struct bytes *text, struct bytes *ret_sid);
/* By its name, if it has one. sid: a valid one. */
void sid_add_text(struct text *out, struct bytes sid);

#endif
