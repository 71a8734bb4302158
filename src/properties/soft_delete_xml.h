/* Containers and shares that were deleted and are kept (properties/soft_delete.h), in requests and answers. */
#ifndef LAGRA_PROPERTIES_SOFT_DELETE_XML_H
#define LAGRA_PROPERTIES_SOFT_DELETE_XML_H

#include "service/answer.h"
#include "properties/soft_delete.h"

/* Which is to be restored: the headers "x-ms-deleted-<kind>-name", which has to be that of the request, and
 * "x-ms-deleted-<kind>-version". kind: "container", "share"
 * returns  OK, E_MissingRequiredHeader, E_InvalidHeaderValue */
enum error restore_headers_check(struct call *call, const char *kind, struct bytes name,
                                 instant *ret_deleted);

/* ---- a list of them ---- */

/* Nobody has a lease of a deleted one; the state is as recorded of containers. semantics 5 */
void deleted_lease_xml(struct text *out);
/* When it was deleted, and the whole days that are left. */
void deleted_days_xml(struct text *out, instant deleted, instant expires, instant now);
/* <Deleted> and <Version> */
void deleted_version_xml(struct text *out, instant deleted);

#endif
