/* Stored access policies as the XML of Get ACL and Set ACL, <SignedIdentifiers>. It is the same for
 * containers, queues, tables and shares except for the letters of the permissions.
 * rest: Set-Container-ACL, Set-Queue-ACL, Set-Table-ACL */
#ifndef LAGRA_PROPERTIES_SIGNED_IDENTIFIERS_H
#define LAGRA_PROPERTIES_SIGNED_IDENTIFIERS_H

#include "auth/policies.h"
#include "base/xml.h"
#include "service/call.h"

/* Writes the complete document. */
void signed_identifiers_xml(struct text *out, const struct policies *policies);

struct policy_letters {
    const char *known;   /* allowed letters */
    const char *ordered; /* letters with a fixed order, in that order, or NULL. decision: 860 */
};
/* Parses the call's body. Without a body there are no policies.
 *
 * returns  OK, E_InvalidXmlDocument (also for more than POLICIES_MAX, invalid permissions, or an id
 * that is missing, repeated or longer than 64 characters), E_InvalidXmlNodeValue (a date) */
enum error signed_identifiers_read(struct call *call, const struct policy_letters *letters,
                                   struct policies *ret_policies);

#endif
