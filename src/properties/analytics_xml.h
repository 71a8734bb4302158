/* Logging, HourMetrics and MinuteMetrics of a service's properties as XML, and retention policies, which other sections
 * have too. rest: Set-Blob-Service-Properties, Set-Queue-Service-Properties, Set-Table-Service-Properties,
 * Set-File-Service-Properties */
#ifndef LAGRA_PROPERTIES_ANALYTICS_XML_H
#define LAGRA_PROPERTIES_ANALYTICS_XML_H

#include "properties/service_properties.h"
#include "service/xml_body.h"

void logging_xml(struct text *out, const struct analytics_logging *logging);
void metrics_xml(struct text *out, const char *name, const struct analytics_metrics *metrics);

/* returns OK, E_InvalidXmlDocument.. (the problem set) */
enum error logging_read(struct call *call, const struct xml_node *node,
                        struct analytics_logging *ret_logging);
enum error metrics_read(struct call *call, const struct xml_node *node,
                        struct analytics_metrics *ret_metrics);

/* An element that makes sense only where its section is switched on (reason as recorded). */
enum error xml_refuse_child_when_off(struct call *call, const struct xml_node *node,
                                     const char *child);
/* Enabled and Days of a retention policy, which is a section itself or part of one. *ret_days: 0: it is not enabled */
enum error retention_read(struct call *call, const struct xml_node *node, uint32_t *ret_days);

#endif
