/* Containers and shares that were deleted and are kept for some days: Restore Container, Restore Share. The records of one
 * move behind the instant of its deletion, so that its name is free, and its space stays as it is until a task drops it.
 * What both services do alike with it is here: keys, versions, the policy; and in kept_deletion_xml.h.
 * rest: Restore-Container, Restore-Share; decisions: 345, 811 */
#ifndef LAGRA_PROPERTIES_SOFT_DELETE_H
#define LAGRA_PROPERTIES_SOFT_DELETE_H

#include "properties/service_properties.h"

/* ---- keys of records ---- */

/* What the keys of a deleted one begin with: this letter, and the instant of the deletion. */
#define KEY_OF_DELETED 'D'
#define DATED_KEY_SIZE (1 + 8) /* a letter, ticks be64 */
void dated_key_add(struct text *out, char letter, instant date);
/* Takes a letter and an instant off the front of *key, if it begins so; else *ret_date is 0. False: malformed. */
bool dated_key_take(struct bytes *key, char letter, instant *ret_date);

/* ---- versions ---- */

/* The version of one that was deleted, which is the instant of its deletion, as it is recorded of containers:
 * 16 hexadecimal digits of 100 ns since 1601. And back; false: malformed. */
struct bytes deleted_version_text(struct arena *arena, instant deleted);
bool deleted_version_parse(struct bytes text, instant *ret_deleted);

/* ---- the policy ---- */

/* The properties of the service of the input's account, as a guard: so that none is lost that was deleted after
 * its policy was set. A part more of the decision.
 * returns as service_properties_read() */
enum store_result service_properties_guard(struct decision *d, const char *service,
                                           struct service_properties *ret_properties);

#endif
