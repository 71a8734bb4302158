/* Stored access policies as the XML of Get ACL and Set ACL: <SignedIdentifiers>, the same for
 * containers, queues, tables and shares but for the letters of permissions.
 * rest: Set-Container-ACL, Set-Queue-ACL, Set-Table-ACL */
#ifndef LAGRA_SERVICE_SIGNED_IDENTIFIERS_H
#define LAGRA_SERVICE_SIGNED_IDENTIFIERS_H

#include "auth/policies.h"
#include "base/xml.h"
#include "service/call.h"

/* The whole document. */
void signed_identifiers_xml(struct text *out, const struct policies *policies);

/* The call's body; no body: no policies.
 *
 * permissions  letters that a policy may have
 * returns      OK, E_InvalidXmlDocument (also more than POLICIES_MAX), E_InvalidXmlNodeValue (a
 *              date, permissions, an id of more than 64 characters or given twice),
 *              E_MissingRequiredXmlNode (Id) */
enum error signed_identifiers_read(struct call *call, const char *permissions,
                                   struct policies *ret_policies);

#endif
