/* Paths as clients send them, and records of a tree as they lie on disk: refused, or as the rules say.
 * The first byte of the input says which, in capital letters without regard to case. */
#include <stdlib.h>

#include "base/log.h"
#include "fuzz.h"
#include "tree/record.h"
#include "tree/path.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_name(struct arena *arena, enum tree_case rule, const struct tree_name *name)
{
    expect(name->given.len > 0 && name->key.len > 0 && bytes_is_utf8(name->given));
    expect(bytes_utf16_units(name->given) <= TREE_NAME_MAX && bytes_is_utf8(name->key));
    expect(bytes_utf16_units(name->key) == bytes_utf16_units(name->given));
    /* A key is a name too: a listing goes on from it. */
    expect(bytes_equal(tree_key(arena, rule, name->key), name->key));
}

static void read_path(struct arena *arena, enum tree_case rule, struct bytes text)
{
    struct tree_path path;

    if (tree_path_parse(arena, rule, text, &path))
        return;
    expect(path.count <= TREE_DEPTH_MAX && bytes_utf16_units(text) <= TREE_PATH_MAX);
    for (size_t i = 0; i < path.count; i++) {
        expect(!memchr(path.names[i].given.ptr, '/', path.names[i].given.len));
        check_name(arena, rule, &path.names[i]);
    }
}

/* The value behind the key, whose length comes first. */
static void read_entry(struct arena *arena, enum tree_case rule, struct bytes text)
{
    size_t length = text.len > 0 ? (uint8_t)text.ptr[0] : 0;
    struct bytes rest = bytes_from(text, 1);
    struct tree_entry entry;

    if (length > rest.len)
        length = rest.len;
    if (!tree_entry_decode(arena, rule, bytes_of(rest.ptr, length), bytes_from(rest, length),
                           &entry))
        return;
    expect(entry.id != TREE_ROOT && (entry.kind == TREE_FILE || entry.kind == TREE_DIRECTORY));
    check_name(arena, rule, &entry.name);
}

static void read_node(struct arena *arena, enum tree_case rule, struct bytes value)
{
    struct tree_node node;

    if (!tree_node_decode(arena, rule, value, &node))
        return;
    expect(node.kind == TREE_FILE || node.kind == TREE_DIRECTORY);
    check_name(arena, rule, &node.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 24);
    char what = size > 0 ? (char)data[0] : '\0';
    bool capital = what >= 'A' && what <= 'Z';
    enum tree_case rule = capital ? TREE_CASE_IGNORED : TREE_CASE_EXACT;
    struct bytes text = bytes_from(bytes_of(data, size), 1);

    switch (what | 0x20) {
    case 'p':
        read_path(arena, rule, text);
        break;
    case 'e':
        read_entry(arena, rule, text);
        break;
    case 'n':
        read_node(arena, rule, text);
        break;
    default:
        upcase_text(arena, text); /* of what is not UTF-8 too */
        break;
    }
    arena_free(arena);
    return 0;
}
