/* Requests and responses about soft-deleted containers and shares (soft_delete.h). */
#ifndef LAGRA_PROPERTIES_SOFT_DELETE_XML_H
#define LAGRA_PROPERTIES_SOFT_DELETE_XML_H

#include "service/answer.h"
#include "properties/soft_delete.h"

/* Parses the headers that name the deleted container to restore: "x-ms-deleted-<kind>-name", which
 * must be the name in the path, and "x-ms-deleted-<kind>-version". kind: "container" or "share".
 * Returns OK, E_MissingRequiredHeader or E_InvalidHeaderValue. */
enum error restore_headers_check(struct call *call, const char *kind, struct bytes name,
                                 instant *ret_deleted);

/* ---- lists of deleted containers ---- */

/* Adds the lease state of a deleted container: no lease, with the state as recorded. semantics 5 */
void deleted_lease_xml(struct text *out);
/* Adds the time of the deletion and the remaining whole days. */
void deleted_days_xml(struct text *out, instant deleted, instant expires, instant now);
/* Adds <Deleted> and <Version>. */
void deleted_version_xml(struct text *out, instant deleted);

#endif
