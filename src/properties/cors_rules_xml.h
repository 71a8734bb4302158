/* CORS rules of a service as XML.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */
#ifndef LAGRA_PROPERTIES_CORS_RULES_XML_H
#define LAGRA_PROPERTIES_CORS_RULES_XML_H

#include "base/xml.h"
#include "properties/cors_rules.h"
#include "service/call.h"

/* Parses and checks a Cors element. An element without rules turns CORS off. Returns OK,
 * E_InvalidXmlDocument, E_InvalidXmlNodeValue or E_MissingRequiredXmlNode. */
enum error cors_rules_read(struct call *call, const struct xml_node *cors,
                           struct cors_rules *ret_rules);
/* Writes <Cors>..</Cors>. */
void cors_rules_xml(struct text *out, const struct cors_rules *rules);

#endif
