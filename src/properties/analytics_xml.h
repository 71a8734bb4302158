/* XML of the Logging, HourMetrics and MinuteMetrics sections of a service's properties, and of
 * retention policies, which other sections contain as well.
 * rest: Set-Blob-Service-Properties, Set-Queue-Service-Properties, Set-Table-Service-Properties,
 * Set-File-Service-Properties */
#ifndef LAGRA_PROPERTIES_ANALYTICS_XML_H
#define LAGRA_PROPERTIES_ANALYTICS_XML_H

#include "properties/service_properties.h"
#include "service/xml_body.h"

void logging_xml(struct text *out, const struct analytics_logging *logging);
void metrics_xml(struct text *out, const char *name, const struct analytics_metrics *metrics);

/* Parse a section. Return OK, or E_InvalidXmlDocument or a similar error with the problem set. */
enum error logging_read(struct call *call, const struct xml_node *node,
                        struct analytics_logging *ret_logging);
enum error metrics_read(struct call *call, const struct xml_node *node,
                        struct analytics_metrics *ret_metrics);

/* Refuses an element that is allowed only if its section is enabled. The reason is worded as
 * recorded. */
enum error xml_refuse_child_when_off(struct call *call, const struct xml_node *node,
                                     const char *child);
/* Parses Enabled and Days of a retention policy, which is a section or part of one. Sets *ret_days
 * to 0 if the policy is disabled. */
enum error retention_read(struct call *call, const struct xml_node *node, uint32_t *ret_days);

#endif
