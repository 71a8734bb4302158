/* Stored access policies as the XML of Get ACL and Set ACL: <SignedIdentifiers>, the same for
 * containers, queues, tables and shares but for the letters of permissions.
 * rest: Set-Container-ACL, Set-Queue-ACL, Set-Table-ACL */
#ifndef LAGRA_PROPERTIES_SIGNED_IDENTIFIERS_H
#define LAGRA_PROPERTIES_SIGNED_IDENTIFIERS_H

#include "auth/policies.h"
#include "base/xml.h"
#include "service/call.h"

/* The whole document. */
void signed_identifiers_xml(struct text *out, const struct policies *policies);

struct policy_letters {
    const char *known;   /* letters that a policy may have */
    const char *ordered; /* letters with a fixed order, in that order, or NULL. decision: 860 */
};
/* Reads the call's body; no body means no policies.
 *
 * returns  OK, E_InvalidXmlDocument (also for more than POLICIES_MAX, wrong permissions, an id that
 *          is missing, given twice or longer than 64 characters), E_InvalidXmlNodeValue (a date) */
enum error signed_identifiers_read(struct call *call, const struct policy_letters *letters,
                                   struct policies *ret_policies);

#endif
