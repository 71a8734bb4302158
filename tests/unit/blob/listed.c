/* See listed.h. */
#include "listed.h"

#include "base/encode.h"

#define DEPTH_MAX 10
#define NODES_MAX 500000

const struct xml_node *document(struct fixture *f, struct reply answer, const char *root)
{
    struct xml_limits limits = { DEPTH_MAX, NODES_MAX };
    struct xml_error error = { 0 };
    const struct xml_node *node;

    assert_ok(answer, 200);
    assert_header(f, answer, "Content-Type", "application/xml");
    assert_true(bytes_has_prefix(answer.body, bytes_from_string("\xEF\xBB\xBF<?xml ")));
    node = xml_parse(answer.response->arena, answer.body, limits, &error);
    if (!node)
        fail_msg("not XML at %lu:%lu: %s", error.line, error.position, error.reason);
    assert_bytes(node->name, root);
    return node;
}

const char *next_marker(struct fixture *f, struct reply answer)
{
    const struct xml_node *root = document(f, answer, "EnumerationResults");
    const struct xml_node *marker = xml_child(root, "NextMarker");

    assert_non_null(marker);
    return arena_string(answer.response->arena,
                        percent_encode(answer.response->arena, marker->text, ""));
}

static void add_item(struct text *out, const struct xml_node *item)
{
    const struct xml_node *name = xml_child(item, "Name");
    bool prefix = bytes_is(item->name, "BlobPrefix");

    assert_non_null(name);
    if (out->len > 0)
        text_add_char(out, ' ');
    text_add_string(out, prefix ? "[" : "");
    text_add(out, name->text);
    text_add_string(out, prefix ? "]" : "");
    text_add_string(out, xml_child(item, "Snapshot") ? "@" : "");
}

const char *listed(struct fixture *f, struct reply answer)
{
    const struct xml_node *root = document(f, answer, "EnumerationResults");
    const struct xml_node *items = xml_child(root, "Blobs");
    struct text out;

    if (!items)
        items = xml_child(root, "Containers");
    assert_non_null(items);
    text_init(&out, answer.response->arena, 256);
    for (const struct xml_node *item = items->first_child; item; item = item->next)
        add_item(&out, item);
    if (next_marker(f, answer)[0])
        text_add_string(&out, out.len > 0 ? " ..." : "...");
    return arena_string(answer.response->arena, text_bytes(&out));
}

static const struct xml_node *find(const struct xml_node *node, const char *element)
{
    const struct xml_node *found = bytes_is(node->name, element) ? node : NULL;

    for (const struct xml_node *child = node->first_child; child && !found; child = child->next)
        found = find(child, element);
    return found;
}

const char *first_text(struct fixture *f, struct reply answer, const char *element)
{
    struct xml_limits limits = { DEPTH_MAX, NODES_MAX };
    struct xml_error error;
    const struct xml_node *root = xml_parse(answer.response->arena, answer.body, limits, &error);
    const struct xml_node *node = root ? find(root, element) : NULL;

    (void)f;
    return node ? arena_string(answer.response->arena, node->text) : NULL;
}

static const struct {
    const char *open; /* what stands before a value that differs from run to run */
    const char *instead;
} varying[] = {
    { "<Last-Modified>", "D" }, { "<Creation-Time>", "D" }, { "<AccessTierChangeTime>", "D" },
    { "<Etag>", "E" },          { "<Snapshot>", "S" },
};

const char *normal(struct fixture *f, struct reply answer)
{
    struct bytes rest = answer.body;
    struct text out;

    (void)f;
    text_init(&out, answer.response->arena, rest.len);
    while (rest.len > 0) {
        size_t skip = 1;

        for (size_t i = 0; i < sizeof varying / sizeof varying[0]; i++) {
            struct bytes open = bytes_from_string(varying[i].open);
            const char *end;

            if (!bytes_has_prefix(rest, open))
                continue;
            end = memchr(rest.ptr + open.len, '<', rest.len - open.len);
            assert_non_null(end);
            text_add(&out, open);
            if (rest.ptr[open.len] == '"' && end[-1] == '"')
                text_printf(&out, "\"%s\"", varying[i].instead);
            else
                text_add_string(&out, varying[i].instead);
            skip = (size_t)(end - rest.ptr);
        }
        if (skip == 1)
            text_add_char(&out, rest.ptr[0]);
        rest = bytes_from(rest, skip);
    }
    return arena_string(answer.response->arena, text_bytes(&out));
}
