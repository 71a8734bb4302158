/* CORS rules: see cors_rules.h. Encoded, for each rule in the order it was set:
 *   bytes methods, origins, allowed headers, exposed headers (comma lists, as they are given back);
 *   max age, seconds
 * The version of the form is that of the record around it (service_properties.c). */
#include "blob/cors_rules.h"

#include "base/codec.h"
#include "blob/xml_body.h"

/* rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services, "Usage and
 * restrictions"; semantics 10.1 */
#define RULES_MAX            5
#define RULES_BYTES_MAX      2048 /* all texts together */
#define ENTRY_MAX            256  /* bytes of an origin or a header */
#define ORIGINS_MAX          64
#define LITERAL_HEADERS_MAX  64
#define PREFIXED_HEADERS_MAX 2

struct cors_rule {
    struct bytes methods, origins, allowed_headers, exposed_headers;
    uint64_t max_age_s;
};

/* ---- comma lists ---- */

typedef enum error entry_fn(struct decision *d, const char *element, struct bytes entry);

static void add_entry(struct text *out, struct bytes entry)
{
    if (out->len > 0)
        text_add_char(out, ',');
    text_add(out, entry);
}

/* Gives the entries of a list that are (or are not) prefixes: an asterisk at their end. */
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

/* Checks every entry of a list. */
static enum error check_entries(struct decision *d, const char *element, struct bytes list,
                                entry_fn *check, size_t *ret_count)
{
    size_t count = 0;

    while (list.ptr) {
        struct bytes entry;
        enum error e;

        bytes_cut(list, ',', &entry, &list);
        entry = bytes_trim(entry);
        if (entry.len == 0 || entry.len > ENTRY_MAX)
            return fail_xml_value(d, element, entry, "An entry is empty or too long.");
        e = check(d, element, entry);
        if (e)
            return e;
        count++;
    }
    *ret_count = count;
    return OK;
}

static enum error check_header(struct decision *d, const char *element, struct bytes entry)
{
    const char *star = memchr(entry.ptr, '*', entry.len);

    if (star && star != entry.ptr + entry.len - 1)
        return fail_xml_value(d, element, entry, "An asterisk stands at the end only.");
    return OK;
}

static enum error check_method(struct decision *d, const char *element, struct bytes entry)
{
    static const char *const methods[] = { "DELETE", "GET", "HEAD",  "MERGE",
                                           "POST",   "PUT", "PATCH", "OPTIONS" };

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (bytes_is(entry, methods[i]))
            return OK;
    }
    return fail_xml_value(d, element, entry, "Not a method that CORS rules know.");
}

static enum error check_origin(struct decision *d, const char *element, struct bytes entry)
{
    (void)d;
    (void)element;
    (void)entry;
    return OK;
}

/* ---- reading ---- */

/* Names first, then prefixes, as the service gives them back (recorded). */
static enum error read_headers(struct decision *d, const struct xml_node *node, const char *element,
                               struct bytes *ret_headers)
{
    struct bytes list = xml_text(node, element);
    struct text out;
    size_t count = 0;
    enum error e;

    e = check_entries(d, element, list, check_header, &count);
    if (e)
        return e;
    text_init(&out, d->arena, list.len);
    if (add_headers(&out, list, false) > LITERAL_HEADERS_MAX ||
        add_headers(&out, list, true) > PREFIXED_HEADERS_MAX)
        return fail_xml_value(d, element, list, "Too many headers.");
    *ret_headers = text_bytes(&out);
    return OK;
}

static enum error read_list(struct decision *d, const struct xml_node *node, const char *element,
                            entry_fn *check, struct bytes *ret_list)
{
    struct bytes list = xml_text(node, element);
    size_t count = 0;
    enum error e;

    if (!list.ptr)
        return fail_xml_missing(d, element);
    e = check_entries(d, element, list, check, &count);
    if (e)
        return e;
    if (count > ORIGINS_MAX)
        return fail_xml_value(d, element, list, "Too many entries.");
    *ret_list = list;
    return OK;
}

static enum error read_max_age(struct decision *d, const struct xml_node *node,
                               uint64_t *ret_max_age_s)
{
    const char *element = "MaxAgeInSeconds";
    struct bytes text = xml_text(node, element);

    if (!text.ptr)
        return fail_xml_missing(d, element);
    if (!bytes_parse_u64(text, INT32_MAX, ret_max_age_s))
        return fail_xml_value(d, element, text, "Not a number of seconds.");
    return OK;
}

static enum error read_rule(struct decision *d, const struct xml_node *node,
                            struct cors_rule *ret_rule)
{
    static const char *const parts[] = { "AllowedOrigins", "AllowedMethods",  "AllowedHeaders",
                                         "ExposedHeaders", "MaxAgeInSeconds", NULL };
    struct cors_rule rule = { .max_age_s = 0 };
    enum error e;

    e = xml_expect_children(d, node, parts);
    if (e)
        return e;
    e = read_list(d, node, "AllowedOrigins", check_origin, &rule.origins);
    if (e)
        return e;
    e = read_list(d, node, "AllowedMethods", check_method, &rule.methods);
    if (e)
        return e;
    e = read_headers(d, node, "AllowedHeaders", &rule.allowed_headers);
    if (e)
        return e;
    e = read_headers(d, node, "ExposedHeaders", &rule.exposed_headers);
    if (e)
        return e;
    *ret_rule = rule;
    return read_max_age(d, node, &ret_rule->max_age_s);
}

enum error cors_rules_read(struct decision *d, const struct xml_node *cors, struct bytes *ret_rules)
{
    struct text out;
    size_t count = 0;

    text_init(&out, d->arena, 256);
    for (const struct xml_node *node = cors->first_child; node; node = node->next) {
        struct cors_rule rule;
        enum error e;

        if (!bytes_is(node->name, "CorsRule"))
            return fail_xml(d, "Only CorsRule elements are expected in Cors.");
        if (++count > RULES_MAX)
            return fail_xml(d, "At most five CORS rules can be set.");
        e = read_rule(d, node, &rule);
        if (e)
            return e;
        encode_bytes(&out, rule.methods);
        encode_bytes(&out, rule.origins);
        encode_bytes(&out, rule.allowed_headers);
        encode_bytes(&out, rule.exposed_headers);
        encode_u64(&out, rule.max_age_s);
        if (out.len > RULES_BYTES_MAX)
            return fail_xml(d, "The CORS rules are longer than 2 KiB.");
    }
    *ret_rules = text_bytes(&out);
    return OK;
}

/* ---- giving back ---- */

bool cors_rules_xml(struct text *out, struct bytes rules)
{
    struct decoder in;

    if (rules.len == 0) {
        text_add_string(out, "<Cors />");
        return true;
    }
    decoder_init(&in, rules);
    xml_open(out, "Cors");
    while (!in.bad && in.at < in.end) {
        xml_open(out, "CorsRule");
        xml_element(out, "AllowedMethods", decode_bytes(&in));
        xml_element(out, "AllowedOrigins", decode_bytes(&in));
        xml_element(out, "AllowedHeaders", decode_bytes(&in));
        xml_element(out, "ExposedHeaders", decode_bytes(&in));
        xml_element_u64(out, "MaxAgeInSeconds", decode_u64(&in));
        xml_close(out, "CorsRule");
    }
    xml_close(out, "Cors");
    return !in.bad;
}
