/* XML of CORS rules: see properties_xml.h. */
#include "properties/properties_xml.h"

#include "service/xml_body.h"

/* rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services, "Usage and
 * restrictions"; semantics 10.1 */
#define ENTRY_MAX            256 /* bytes of an origin or header */
#define ORIGINS_MAX          64
#define LITERAL_HEADERS_MAX  64
#define PREFIXED_HEADERS_MAX 2

/* ---- comma-separated lists ---- */

typedef enum error entry_fn(struct call *call, const char *element, struct bytes entry);

static void add_entry(struct text *out, struct bytes entry)
{
    if (out->len > 0)
        text_add_char(out, ',');
    text_add(out, entry);
}

/* Adds the entries of a list that are prefixes (end with an asterisk), or the others. */
static size_t add_headers(struct text *out, struct bytes list, bool prefixes)
{
    size_t count = 0;

    while (list.ptr) {
        struct bytes entry;

        bytes_cut(list, ',', &entry, &list);
        entry = bytes_trim(entry);
        if (entry.len > 0 && (entry.ptr[entry.len - 1] == '*') == prefixes) {
            add_entry(out, entry);
            count++;
        }
    }
    return count;
}

static enum error check_entries(struct call *call, const char *element, struct bytes list,
                                entry_fn *check, size_t *ret_count)
{
    size_t count = 0;

    while (list.ptr) {
        struct bytes entry;
        enum error e;

        bytes_cut(list, ',', &entry, &list);
        entry = bytes_trim(entry);
        if (entry.len == 0 || entry.len > ENTRY_MAX)
            return xml_fail_value(call, element, entry, "An entry is empty or too long.");
        e = check(call, element, entry);
        if (e)
            return e;
        count++;
    }
    *ret_count = count;
    return OK;
}

static enum error check_header(struct call *call, const char *element, struct bytes entry)
{
    const char *star = memchr(entry.ptr, '*', entry.len);

    if (star && star != entry.ptr + entry.len - 1)
        return xml_fail_value(call, element, entry, "An asterisk stands at the end only.");
    return OK;
}

static enum error check_method(struct call *call, const char *element, struct bytes entry)
{
    static const char *const methods[] = { "DELETE", "GET", "HEAD",  "MERGE",
                                           "POST",   "PUT", "PATCH", "OPTIONS" };

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (bytes_is(entry, methods[i]))
            return OK;
    }
    return xml_fail_value(call, element, entry, "Not a method that CORS rules know.");
}

static enum error check_origin(struct call *call, const char *element, struct bytes entry)
{
    (void)call;
    (void)element;
    (void)entry;
    return OK;
}

/* ---- input ---- */

/* Parses a list of headers. Puts names before prefixes, in the order in which the service returns
 * them (recorded). */
static enum error read_headers(struct call *call, const struct xml_node *node, const char *element,
                               struct bytes *ret_headers)
{
    struct bytes list = xml_text(node, element);
    struct text out;
    size_t count = 0;
    enum error e;

    e = check_entries(call, element, list, check_header, &count);
    if (e)
        return e;
    text_init(&out, call->arena, list.len);
    if (add_headers(&out, list, false) > LITERAL_HEADERS_MAX ||
        add_headers(&out, list, true) > PREFIXED_HEADERS_MAX)
        return xml_fail_value(call, element, list, "Too many headers.");
    *ret_headers = text_bytes(&out);
    return OK;
}

static enum error read_list(struct call *call, const struct xml_node *node, const char *element,
                            entry_fn *check, struct bytes *ret_list)
{
    struct bytes list = xml_text(node, element);
    size_t count = 0;
    enum error e;

    if (!list.ptr)
        return xml_fail_missing(call, element);
    e = check_entries(call, element, list, check, &count);
    if (e)
        return e;
    if (count > ORIGINS_MAX)
        return xml_fail_value(call, element, list, "Too many entries.");
    *ret_list = list;
    return OK;
}

static enum error read_max_age(struct call *call, const struct xml_node *node,
                               uint64_t *ret_max_age_s)
{
    const char *element = "MaxAgeInSeconds";
    struct bytes text = xml_text(node, element);

    if (!text.ptr)
        return xml_fail_missing(call, element);
    if (!bytes_parse_u64(text, INT32_MAX, ret_max_age_s))
        return xml_fail_value(call, element, text, "Not a number of seconds.");
    return OK;
}

static enum error read_rule(struct call *call, const struct xml_node *node,
                            struct cors_rule *ret_rule)
{
    static const char *const parts[] = { "AllowedOrigins", "AllowedMethods",  "AllowedHeaders",
                                         "ExposedHeaders", "MaxAgeInSeconds", NULL };
    struct cors_rule rule = { .max_age_s = 0 };
    enum error e;

    e = xml_expect_children(call, node, parts);
    if (e)
        return e;
    e = read_list(call, node, "AllowedOrigins", check_origin, &rule.origins);
    if (e)
        return e;
    e = read_list(call, node, "AllowedMethods", check_method, &rule.methods);
    if (e)
        return e;
    e = read_headers(call, node, "AllowedHeaders", &rule.allowed_headers);
    if (e)
        return e;
    e = read_headers(call, node, "ExposedHeaders", &rule.exposed_headers);
    if (e)
        return e;
    *ret_rule = rule;
    return read_max_age(call, node, &ret_rule->max_age_s);
}

enum error cors_rules_read(struct call *call, const struct xml_node *cors,
                           struct cors_rules *ret_rules)
{
    struct cors_rules rules = { .count = 0 };
    struct text stored;

    for (const struct xml_node *node = cors->first_child; node; node = node->next) {
        enum error e;

        if (!bytes_is(node->name, "CorsRule"))
            return xml_fail(call, node, "Only CorsRule elements are expected in Cors.");
        if (rules.count == CORS_RULES_MAX)
            return xml_fail_whole(call);
        e = read_rule(call, node, &rules.items[rules.count]);
        if (e)
            return e;
        rules.count++;
    }
    text_init(&stored, call->arena, 256);
    cors_rules_encode(&stored, &rules);
    if (stored.len > CORS_RULES_BYTES_MAX)
        return xml_fail(call, cors, "The CORS rules are longer than 2 KiB.");
    *ret_rules = rules;
    return OK;
}

/* ---- output ---- */

void cors_rules_xml(struct text *out, const struct cors_rules *rules)
{
    if (rules->count == 0) {
        text_add_string(out, "<Cors />");
        return;
    }
    xml_open(out, "Cors");
    for (size_t i = 0; i < rules->count; i++) {
        const struct cors_rule *rule = &rules->items[i];

        xml_open(out, "CorsRule");
        xml_element(out, "AllowedMethods", rule->methods);
        xml_element(out, "AllowedOrigins", rule->origins);
        xml_element(out, "AllowedHeaders", rule->allowed_headers);
        xml_element(out, "ExposedHeaders", rule->exposed_headers);
        xml_element_u64(out, "MaxAgeInSeconds", rule->max_age_s);
        xml_close(out, "CorsRule");
    }
    xml_close(out, "Cors");
}
