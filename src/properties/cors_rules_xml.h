/* CORS rules of a service as XML.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */
#ifndef LAGRA_PROPERTIES_CORS_RULES_XML_H
#define LAGRA_PROPERTIES_CORS_RULES_XML_H

#include "base/xml.h"
#include "properties/cors_rules.h"
#include "service/call.h"

/* Reads a Cors element and checks it; no rule in it: CORS is off.
 * returns  OK, E_InvalidXmlDocument, E_InvalidXmlNodeValue, E_MissingRequiredXmlNode */
enum error cors_rules_read(struct call *call, const struct xml_node *cors,
                           struct cors_rules *ret_rules);
/* <Cors>..</Cors> */
void cors_rules_xml(struct text *out, const struct cors_rules *rules);

#endif
