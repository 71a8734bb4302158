/* Requests and responses about soft-deleted containers and shares (soft_delete.h). */
#ifndef LAGRA_PROPERTIES_SOFT_DELETE_XML_H
#define LAGRA_PROPERTIES_SOFT_DELETE_XML_H

#include "service/answer.h"
#include "properties/soft_delete.h"

/* Reads which deleted container a request restores: "x-ms-deleted-<kind>-name", which must be the name in the path, and
 * "x-ms-deleted-<kind>-version". kind: "container", "share"
 * returns  OK, E_MissingRequiredHeader, E_InvalidHeaderValue */
enum error restore_headers_check(struct call *call, const char *kind, struct bytes name,
                                 instant *ret_deleted);

/* ---- a list of them ---- */

/* Adds the lease of a deleted container: none, with the state as recorded. semantics 5 */
void deleted_lease_xml(struct text *out);
/* Adds the time of the deletion and the remaining whole days. */
void deleted_days_xml(struct text *out, instant deleted, instant expires, instant now);
/* Adds <Deleted> and <Version>. */
void deleted_version_xml(struct text *out, instant deleted);

#endif
