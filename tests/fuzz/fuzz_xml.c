/* XML of request bodies: any bytes give a tree within the limits, or an error with a place. What
 * was read can be written and read again. */
#include <stdlib.h>

#include "base/xml.h"
#include "fuzz.h"

#define DEPTH_MAX 16
#define NODES_MAX 1000

static size_t count_nodes(const struct xml_node *node, size_t depth)
{
    size_t count = 0;

    for (; node; node = node->next) {
        if (depth > DEPTH_MAX || !bytes_is_utf8(node->text))
            abort();
        count += 1 + count_nodes(node->first_child, depth + 1);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 26);
    struct xml_limits limits = { .depth_max = DEPTH_MAX, .nodes_max = NODES_MAX };
    struct xml_error error;
    struct xml_node *root = xml_parse(arena, bytes_of(data, size), limits, &error);

    if (root && count_nodes(root, 1) > NODES_MAX)
        abort();
    if (root && root->text.len > 0) {
        struct text out;
        struct xml_node *again;

        text_init(&out, arena, 64);
        xml_begin(&out);
        xml_element(&out, "A", root->text);
        again = xml_parse(arena, text_bytes(&out), limits, &error);
        if (!again || !bytes_equal(again->text, root->text))
            abort();
    }
    arena_free(arena);
    return 0;
}
