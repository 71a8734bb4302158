/* CORS rules of the Blob service: read from a request's XML, kept as bytes, given back as XML.
 * Inside the blob room only.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */
#ifndef LAGRA_BLOB_CORS_RULES_H
#define LAGRA_BLOB_CORS_RULES_H

#include "base/xml.h"
#include "service/operation.h"

/* Reads a Cors element, checks it, and encodes its rules (empty: none, CORS is off).
 * returns  OK, E_InvalidXmlDocument, E_InvalidXmlNodeValue, E_MissingRequiredXmlNode */
enum error cors_rules_read(struct decision *d, const struct xml_node *cors,
                           struct bytes *ret_rules);
/* <Cors>..</Cors>. Returns false when the encoded rules have an unknown form. */
bool cors_rules_xml(struct text *out, struct bytes rules);

#endif
