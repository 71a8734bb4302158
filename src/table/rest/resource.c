/* Parses the resource in a request's path: the service, the set of tables, one of them, a table's
 * entities, an entity, or a batch. Paths follow OData: "Tables('name')",
 * "name(PartitionKey='..',RowKey='..')"; inside quotes, a quote is doubled.
 * rest: Addressing-Table-Service-Resources */
#include "base/encode.h"
#include "base/words.h"
#include "table/rest/entity_json.h"
#include "table/rest/odata.h"

/* The rest of a path being parsed. */
struct path {
    struct arena *arena;
    struct bytes rest;
};

static void skip(struct path *path, size_t length)
{
    path->rest = bytes_of(path->rest.ptr + length, path->rest.len - length);
}

/* Consumes the character if it is next. */
static bool take(struct path *path, char c)
{
    if (path->rest.len == 0 || path->rest.ptr[0] != c)
        return false;
    skip(path, 1);
    return true;
}

static bool take_word(struct path *path, struct bytes word)
{
    if (!bytes_has_prefix(path->rest, word))
        return false;
    skip(path, word.len);
    return true;
}

static void take_blanks(struct path *path)
{
    while (take(path, ' '))
        continue;
}

/* Reads up to the next quote, and consumes it. Returns false if none exists. */
static bool take_to_quote(struct path *path, struct bytes *ret_text)
{
    const char *quote = path->rest.len > 0 ? memchr(path->rest.ptr, '\'', path->rest.len) : NULL;

    if (!quote)
        return false;
    *ret_text = bytes_of(path->rest.ptr, (size_t)(quote - path->rest.ptr));
    skip(path, ret_text->len + 1);
    return true;
}

/* Reads 'text', in which quotes are doubled. */
static bool take_quoted(struct path *path, struct bytes *ret_text)
{
    struct bytes part;
    struct text out;

    if (!take(path, '\'') || !take_to_quote(path, ret_text))
        return false;
    if (!take(path, '\''))
        return true;
    text_init(&out, path->arena, ret_text->len + path->rest.len + 1);
    text_add(&out, *ret_text);
    do {
        if (!take_to_quote(path, &part))
            return false;
        text_add_char(&out, '\'');
        text_add(&out, part);
    } while (take(path, '\''));
    *ret_text = text_bytes(&out);
    return true;
}

/* Reads Name='text' for both keys, in any order. */
static bool take_keys(struct path *path, struct table_resource *resource)
{
    static const struct bytes partition_key = BYTES("PartitionKey"), row_key = BYTES("RowKey");

    for (;;) {
        struct bytes *key = NULL;

        take_blanks(path);
        if (take_word(path, partition_key))
            key = &resource->partition_key;
        else if (take_word(path, row_key))
            key = &resource->row_key;
        if (!key || key->ptr)
            return false;
        take_blanks(path);
        if (!take(path, '='))
            return false;
        take_blanks(path);
        if (!take_quoted(path, key))
            return false;
        take_blanks(path);
        if (!take(path, ','))
            return resource->partition_key.ptr && resource->row_key.ptr;
    }
}

/* Reads the rest of the path after the name: nothing, "()", or a predicate in parentheses. */
static bool read_predicate(struct path *path, struct table_resource *resource)
{
    bool of_set = bytes_is_nocase(resource->table, "Tables");

    resource->base.level = of_set ? LEVEL_TABLES : LEVEL_TABLE;
    if (of_set)
        resource->table = (struct bytes){ NULL, 0 };
    if (path->rest.len == 0)
        return true;
    if (!take(path, '('))
        return false;
    take_blanks(path);
    if (take(path, ')'))
        return path->rest.len == 0;
    resource->base.level = of_set ? LEVEL_NAMED : LEVEL_ENTITY;
    if (of_set ? !take_quoted(path, &resource->table) : !take_keys(path, resource))
        return false;
    take_blanks(path);
    return take(path, ')') && path->rest.len == 0;
}

static enum error read_path(struct call *call, struct bytes text, struct table_resource *resource)
{
    struct path path = { .arena = call->arena, .rest = percent_decode(call->arena, text) };
    size_t name = 0;

    if (!path.rest.ptr || !bytes_is_utf8(path.rest))
        return E_InvalidUri;
    if (bytes_is(path.rest, "$batch")) {
        resource->base.level = LEVEL_BATCH;
        return OK;
    }
    while (name < path.rest.len && path.rest.ptr[name] != '(')
        name++;
    resource->table = bytes_of(path.rest.ptr, name);
    path.rest = bytes_from(path.rest, name);
    if (bytes_is_nocase(resource->table, "Tables/")) /* accepted as in Azurite. decision: 261 */
        resource->table.len--;
    if (!read_predicate(&path, resource))
        return call_fail(call, E_InvalidInput, "Bad Request - Error in query syntax.");
    return OK;
}

/* Replaces the method of a POST by its X-HTTP-Method. decision: 189
 * rest: Setting-the-X-HTTP-Method-Header, Table-Service-Error-Codes */
static enum error read_method(struct call *call)
{
    static const struct {
        const char *name;
        enum http_method method;
    } methods[] = { { "MERGE", METHOD_MERGE },
                    { "PATCH", METHOD_PATCH },
                    { "PUT", METHOD_PUT },
                    { "DELETE", METHOD_DELETE } };
    static const struct bytes name = BYTES("x-http-method");
    struct bytes value = call_header(call, "x-http-method");

    if (!value.ptr)
        return OK;
    if (call->request->method != METHOD_POST)
        return E_XMethodNotUsingPost;
    for (size_t i = 0; i < call->request->header_count; i++) {
        const struct http_header *header = &call->request->headers[i];

        if (bytes_equal(header->name, name) && header->value.ptr != value.ptr)
            return E_XMethodIncorrectCount;
    }
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (bytes_is_nocase(value, methods[i].name)) {
            call->method = methods[i].method;
            return OK;
        }
    }
    return E_XMethodIncorrectValue;
}

enum error table_read_resource(struct call *call, struct bytes path, struct resource *ret_resource)
{
    enum error e = read_method(call);

    if (e || path.len == 0)
        return e;
    return read_path(call, path, (struct table_resource *)(void *)ret_resource);
}

/* ---- Property names: declared in entity_json.h ---- */

/* Characters that may start an XML name, sorted. C# allows fewer, but no additional ASCII
 * characters. xml: NameStartChar, without ':' */
static const struct range {
    uint32_t first, last;
} starts[] = {
    { 'A', 'Z' },       { '_', '_' },       { 'a', 'z' },         { 0xC0, 0xD6 },
    { 0xD8, 0xF6 },     { 0xF8, 0x2FF },    { 0x370, 0x37D },     { 0x37F, 0x1FFF },
    { 0x200C, 0x200D }, { 0x2070, 0x218F }, { 0x2C00, 0x2FEF },   { 0x3001, 0xD7FF },
    { 0xF900, 0xFDCF }, { 0xFDF0, 0xFFFD }, { 0x10000, 0xEFFFF },
};
/* Additional characters allowed after the first. xml: NameChar, without '-' and '.' */
static const struct range others[] = {
    { '0', '9' },
    { 0xB7, 0xB7 },
    { 0x300, 0x36F },
    { 0x203F, 0x2040 },
};

static bool is_in(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Tests for characters other than ASCII letters, digits and _. */
static word_bytes not_ascii_name(word_bytes text)
{
    return ~(word_between(text | 0x20, 'a', 'z') | word_between(text, '0', '9') |
             word_equal(text, '_'));
}

enum error entity_name_check(struct bytes utf8)
{
    if (utf8.len == 0)
        return E_PropertyNameInvalid;
    if (bytes_utf16_exceed(utf8, ENTITY_NAME_UNITS_MAX))
        return E_PropertyNameTooLong;
    for (bool first = true; utf8.len > 0; first = false) {
        uint32_t c;

        if (!first)
            utf8 = bytes_from(utf8, word_run(utf8, not_ascii_name));
        if (utf8.len == 0)
            return OK;
        c = bytes_take_code_point(&utf8);
        if (!is_in(starts, sizeof starts / sizeof starts[0], c) &&
            (first || !is_in(others, sizeof others / sizeof others[0], c)))
            return E_PropertyNameInvalid;
    }
    return OK;
}
