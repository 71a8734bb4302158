/* Soft delete of containers and shares: the keys, versions and policy that Restore Container and
 * Restore Share have in common. A deleted container is retained for some days. Its records move to
 * keys with the time of the deletion, which frees the name. Its space is unchanged until a task
 * drops it. properties_xml.h has headers and lists. rest: Restore-Container, Restore-Share;
 * decisions: 345, 811 */
#ifndef LAGRA_PROPERTIES_SOFT_DELETE_H
#define LAGRA_PROPERTIES_SOFT_DELETE_H

#include "properties/service_properties.h"

/* ---- keys of records ---- */

/* Prefix of the keys of a deleted container: this letter and the time of the deletion. */
#define KEY_OF_DELETED 'D'
#define DATED_KEY_SIZE (1 + 8) /* a letter, ticks be64 */
void dated_key_add(struct text *out, char letter, instant date);
/* Removes the prefix of a letter and a date from *key. Sets *ret_date to 0 if the key has no such
 * prefix. Returns false if the key is malformed. */
bool dated_key_take(struct bytes *key, char letter, instant *ret_date);

/* ---- versions ---- */

/* Formats the version of a deleted container: the time of its deletion in units of 100 ns since
 * 1601, as 16 hexadecimal digits. */
struct bytes deleted_version_text(struct arena *arena, instant deleted);
/* Parses such a version. Returns false if it is malformed. */
bool deleted_version_parse(struct bytes text, instant *ret_deleted);

/* ---- the policy ---- */

/* Reads the properties of the account's service as a guard, so that a container deleted after its
 * retention policy was set is retained. Adds a part to the decision. Returns the same values as
 * service_properties_read(). */
enum store_result service_properties_guard(struct decision *d, const char *service,
                                           struct service_properties *ret_properties);

#endif
