/* Request bodies that are XML: see xml_body.h. */
#include "blob/xml_body.h"

#include <inttypes.h>

#define VALUE_SHOWN_MAX 256 /* bytes of a wrong value that an error answer repeats */

/* Far more than a block list may hold, so that a longer one gets its own error; the row's body_max
 * bounds the others. */
static const struct xml_limits limits = { .depth_max = 8, .nodes_max = 200000 };

enum error fail_xml(struct decision *d, const char *reason)
{
    fail_field(d, "Reason", bytes_from_string(reason));
    return E_InvalidXmlDocument;
}

enum error fail_xml_value(struct decision *d, const char *name, struct bytes value,
                          const char *reason)
{
    if (value.len > VALUE_SHOWN_MAX || !bytes_is_utf8(value))
        value = bytes_of("", 0);
    fail_field(d, "XmlNodeName", bytes_from_string(name));
    fail_field_more(d, "XmlNodeValue", value);
    fail_field_more(d, "Reason", bytes_from_string(reason));
    return E_InvalidXmlNodeValue;
}

enum error fail_xml_missing(struct decision *d, const char *name)
{
    fail_field(d, "XmlNodeName", bytes_from_string(name));
    return E_MissingRequiredXmlNode;
}

enum error xml_body(struct decision *d, const char *root, const struct xml_node **ret_root)
{
    struct xml_error problem;
    const struct xml_node *node;

    node = xml_parse(d->arena, d->call->body.inline_bytes, limits, &problem);
    if (!node) {
        fail_field(d, "LineNumber", arena_printf(d->arena, "%lu", problem.line));
        fail_field_more(d, "LinePosition", arena_printf(d->arena, "%lu", problem.position));
        fail_field_more(d, "Reason", bytes_from_string(problem.reason));
        return E_InvalidXmlDocument;
    }
    if (!bytes_is(node->name, root))
        return fail_xml(d, "The root element is not the one that the operation takes.");
    *ret_root = node;
    return OK;
}

enum error xml_expect_children(struct decision *d, const struct xml_node *node,
                               const char *const *names)
{
    for (const struct xml_node *child = node->first_child; child; child = child->next) {
        bool known = false;

        for (size_t i = 0; names[i] && !known; i++)
            known = bytes_is(child->name, names[i]);
        if (!known)
            return fail_xml(d, "An element is not expected where it stands.");
        for (const struct xml_node *other = child->next; other; other = other->next) {
            if (bytes_equal(child->name, other->name))
                return fail_xml(d, "An element is given more than once.");
        }
    }
    return OK;
}

enum error xml_bool(struct decision *d, const struct xml_node *parent, const char *name,
                    bool *ret_value)
{
    struct bytes value = xml_text(parent, name);

    if (!value.ptr)
        return fail_xml_missing(d, name);
    if (bytes_is_nocase(value, "true"))
        *ret_value = true;
    else if (bytes_is_nocase(value, "false"))
        *ret_value = false;
    else
        return fail_xml_value(d, name, value, "Neither true nor false.");
    return OK;
}

struct bytes xml_text(const struct xml_node *parent, const char *name)
{
    const struct xml_node *child = xml_child(parent, name);
    struct bytes text = { NULL, 0 };

    if (child && child->text.len > 0)
        text = bytes_trim(child->text);
    return text.len > 0 ? text : (struct bytes){ NULL, 0 };
}
