/* XML of service properties and access policies, and of deleted containers and shares. First the
 * Logging, HourMetrics and MinuteMetrics sections of a service's properties, and retention
 * policies, which other sections contain as well.
 * rest: Set-Blob-Service-Properties, Set-Queue-Service-Properties, Set-Table-Service-Properties,
 * Set-File-Service-Properties */
#ifndef LAGRA_PROPERTIES_PROPERTIES_XML_H
#define LAGRA_PROPERTIES_PROPERTIES_XML_H

#include "auth/policies.h"
#include "base/xml.h"
#include "properties/cors_rules.h"
#include "properties/service_properties.h"
#include "properties/soft_delete.h"
#include "service/answer.h"
#include "service/call.h"
#include "service/xml_body.h"

void logging_xml(struct text *out, const struct analytics_logging *logging);
void metrics_xml(struct text *out, const char *name, const struct analytics_metrics *metrics);

/* Parse a section. Return OK, or E_InvalidXmlDocument or a similar error with the problem set. */
enum error logging_read(struct call *call, const struct xml_node *node,
                        struct analytics_logging *ret_logging);
enum error metrics_read(struct call *call, const struct xml_node *node,
                        struct analytics_metrics *ret_metrics);

/* Refuses an element that is allowed only if its section is enabled, with the recorded reason. */
enum error xml_refuse_child_when_off(struct call *call, const struct xml_node *node,
                                     const char *child);
/* Parses Enabled and Days of a retention policy, which is a section or part of one. Sets *ret_days
 * to 0 if the policy is disabled. */
enum error retention_read(struct call *call, const struct xml_node *node, uint32_t *ret_days);

/* CORS rules of a service as XML.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */

/* Parses and checks a Cors element. An element without rules turns CORS off. Returns OK,
 * E_InvalidXmlDocument, E_InvalidXmlNodeValue or E_MissingRequiredXmlNode. */
enum error cors_rules_read(struct call *call, const struct xml_node *cors,
                           struct cors_rules *ret_rules);
/* Writes <Cors>..</Cors>. */
void cors_rules_xml(struct text *out, const struct cors_rules *rules);

/* Requests and responses about soft-deleted containers and shares (soft_delete.h). */

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

/* Stored access policies as the XML of Get ACL and Set ACL, <SignedIdentifiers>. It is the same for
 * containers, queues, tables and shares except for the letters of the permissions.
 * rest: Set-Container-ACL, Set-Queue-ACL, Set-Table-ACL */

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
