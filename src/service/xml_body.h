/* Request bodies that are XML: parsing them, and refusing them in Azure's words.
 * Of every service that has such bodies. */
#ifndef LAGRA_SERVICE_XML_BODY_H
#define LAGRA_SERVICE_XML_BODY_H

#include "base/xml.h"
#include "service/call.h"

/* The document in the call's body, whose root must have this name.
 * returns  OK, E_InvalidXmlDocument (not well-formed, another root, too deep or too large) */
enum error xml_body(struct call *call, const char *root, const struct xml_node **ret_root);

/* E_InvalidXmlDocument with Reason in the body; node: the element that the fault is in, whose
 * LineNumber and LinePosition are given, or NULL. */
enum error xml_fail(struct call *call, const struct xml_node *node, const char *reason);
/* E_InvalidXmlDocument as the service reports a root that is an empty-element tag: its reader looks
 * for the end tag up to the end of the document (recorded). */
enum error xml_fail_empty_root(struct call *call);
/* E_InvalidXmlDocument as the service says it where a document breaks a rule that it looks at only
 * once the document is read: LineNumber and LinePosition 0, Reason empty (recorded). */
enum error xml_fail_whole(struct call *call);
/* E_InvalidXmlNodeValue with XmlNodeName, XmlNodeValue and Reason in the body. */
enum error xml_fail_value(struct call *call, const char *name, struct bytes value,
                          const char *reason);
/* E_MissingRequiredXmlNode with XmlNodeName in the body. */
enum error xml_fail_missing(struct call *call, const char *name);

/* Are all children of the node among these names (NULL ends), each at most once?
 * returns  OK, E_InvalidXmlDocument */
enum error xml_expect_children(struct call *call, const struct xml_node *node,
                               const char *const *names);

/* "true" / "false", any case. returns OK, E_MissingRequiredXmlNode, E_InvalidXmlNodeValue */
enum error xml_bool(struct call *call, const struct xml_node *parent, const char *name,
                    bool *ret_value);
/* Characters of UTF-8: bytes that do not continue one. */
size_t xml_count_characters(struct bytes text);
/* Trimmed text of a child; ptr NULL when there is no such child, or an empty one. */
struct bytes xml_text(const struct xml_node *parent, const char *name);

#endif
