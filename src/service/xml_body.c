/* XML request bodies; see xml_body.h. */
#include "service/xml_body.h"

#include <inttypes.h>

/* Maximum length of an invalid value that is echoed in an error response */
#define VALUE_SHOWN_MAX 256

/* Far above the limit of a block list, so that a longer list gets its own error. Other bodies are
 * limited by the row's body_max. */
static const struct xml_limits limits = { .depth_max = 8, .nodes_max = 200000 };

static enum error fail_at(struct call *call, unsigned long line, unsigned long position,
                          const char *reason)
{
    problem_set_field(call->problem, "LineNumber", arena_printf(call->arena, "%lu", line));
    problem_add_field(call->problem, "LinePosition", arena_printf(call->arena, "%lu", position));
    problem_add_field(call->problem, "Reason", bytes_from_string(reason));
    return E_InvalidXmlDocument;
}

enum error xml_fail(struct call *call, const struct xml_node *node, const char *reason)
{
    if (node) {
        unsigned long line, position;

        xml_find_end(call->input.body.inline_bytes, node, &line, &position);
        return fail_at(call, line, position, reason);
    }
    problem_set_field(call->problem, "Reason", bytes_from_string(reason));
    return E_InvalidXmlDocument;
}

enum error xml_fail_whole(struct call *call)
{
    return fail_at(call, 0, 0, "");
}

size_t xml_count_characters(struct bytes text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

enum error xml_fail_empty_root(struct call *call)
{
    struct bytes last = call->input.body.inline_bytes;
    unsigned long line = 1, position;
    struct bytes reason;

    for (const char *end; last.len > 0 && (end = memchr(last.ptr, '\n', last.len)); line++)
        last = bytes_from(last, (size_t)(end - last.ptr) + 1);
    position = xml_count_characters(last) + 1;
    reason = arena_printf(call->arena,
                          "Error parsing Xml content: 'None' is an invalid XmlNodeType. Line %lu, "
                          "position %lu.",
                          line, position);
    return fail_at(call, line, position, arena_string(call->arena, reason));
}

enum error xml_fail_value(struct call *call, const char *name, struct bytes value,
                          const char *reason)
{
    if (value.len > VALUE_SHOWN_MAX || !bytes_is_utf8(value))
        value = bytes_of("", 0);
    problem_set_field(call->problem, "XmlNodeName", bytes_from_string(name));
    problem_add_field(call->problem, "XmlNodeValue", value);
    problem_add_field(call->problem, "Reason", bytes_from_string(reason));
    return E_InvalidXmlNodeValue;
}

enum error xml_fail_missing(struct call *call, const char *name)
{
    problem_set_field(call->problem, "XmlNodeName", bytes_from_string(name));
    return E_MissingRequiredXmlNode;
}

enum error xml_body(struct call *call, const char *root, const struct xml_node **ret_root)
{
    struct xml_error problem;
    const struct xml_node *node;

    node = xml_parse(call->arena, call->input.body.inline_bytes, limits, &problem);
    if (!node)
        return fail_at(call, problem.line, problem.position, problem.reason);
    if (!bytes_is(node->name, root))
        return xml_fail(call, node, "The root element is not the one that the operation takes.");
    *ret_root = node;
    return OK;
}

enum error xml_expect_children(struct call *call, const struct xml_node *node,
                               const char *const *names)
{
    for (const struct xml_node *child = node->first_child; child; child = child->next) {
        bool known = false;

        for (size_t i = 0; names[i] && !known; i++)
            known = bytes_is(child->name, names[i]);
        if (!known)
            return xml_fail(call, child, "An element is not expected where it stands.");
        for (const struct xml_node *other = child->next; other; other = other->next) {
            if (bytes_equal(child->name, other->name))
                return xml_fail(call, other, "An element is given more than once.");
        }
    }
    return OK;
}

enum error xml_bool(struct call *call, const struct xml_node *parent, const char *name,
                    bool *ret_value)
{
    struct bytes value = xml_text(parent, name);

    if (!value.ptr)
        return xml_fail_missing(call, name);
    if (bytes_is_nocase(value, "true"))
        *ret_value = true;
    else if (bytes_is_nocase(value, "false"))
        *ret_value = false;
    else
        return xml_fail_value(call, name, value, "Neither true nor false.");
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
