/* Parses XML request bodies, and refuses them with Azure's error messages. For all services with
 * such bodies. */
#ifndef LAGRA_SERVICE_XML_BODY_H
#define LAGRA_SERVICE_XML_BODY_H

#include "base/xml.h"
#include "service/call.h"

/* Parses the document in the call's body, whose root must have this name.
 * Returns  OK, E_InvalidXmlDocument (not well-formed, another root, too deep or too large). */
enum error xml_body(struct call *call, const char *root, const struct xml_node **ret_root);

/* Returns E_InvalidXmlDocument with Reason in the body. node: faulty element, for LineNumber and
 * LinePosition, or NULL */
enum error xml_fail(struct call *call, const struct xml_node *node, const char *reason);
/* Returns E_InvalidXmlDocument as the real service does for a root that is an empty-element tag:
 * its reader looks for the end tag up to the end of the document (recorded). */
enum error xml_fail_empty_root(struct call *call);
/* Returns E_InvalidXmlDocument as the real service does for rules that it checks only after reading
 * the document: LineNumber and LinePosition 0, Reason empty (recorded). */
enum error xml_fail_whole(struct call *call);
/* Returns E_InvalidXmlNodeValue with XmlNodeName, XmlNodeValue and Reason in the body. */
enum error xml_fail_value(struct call *call, const char *name, struct bytes value,
                          const char *reason);
/* Returns E_MissingRequiredXmlNode with XmlNodeName in the body. */
enum error xml_fail_missing(struct call *call, const char *name);

/* Checks that all children of the node have one of these names (NULL ends), and each at most once.
 * Returns  OK, E_InvalidXmlDocument. */
enum error xml_expect_children(struct call *call, const struct xml_node *node,
                               const char *const *names);

/* Reads "true" or "false" in any case. Returns OK, E_MissingRequiredXmlNode,
 * E_InvalidXmlNodeValue. */
enum error xml_bool(struct call *call, const struct xml_node *parent, const char *name,
                    bool *ret_value);
/* Returns the number of UTF-8 characters. */
size_t xml_count_characters(struct bytes text);
/* Returns the trimmed text of a child; ptr NULL if it is missing or empty. */
struct bytes xml_text(const struct xml_node *parent, const char *name);

#endif
