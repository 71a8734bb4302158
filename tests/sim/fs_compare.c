/* An answer beside a state of the tree: see fs_judge.h. */
#include <stdlib.h>
#include <string.h>

#include "fs_judge.h"
#include "fs_model.h"

/* The bytes that came, of slots `from` to `to` of a file. */
static const char *compare_bytes(const struct fs_node *node, unsigned from, unsigned to,
                                 const struct reply *answer)
{
    size_t slot = fs_slot_bytes(), size = (to - from) * slot;
    unsigned char *expected = calloc(1, size + 1);
    bool same;

    for (unsigned i = from; i < to; i++) {
        if (node->slots[i] > 0)
            pattern_fill(node->slots[i], i * slot, expected + (i - from) * slot, slot);
    }
    same = answer->length == size && answer->body_size <= size &&
           memcmp(expected, answer->body, answer->body_size) == 0;
    free(expected);
    return same ? NULL : "other bytes";
}

static const char *compare_properties(const struct fs_node *node, const struct reply *answer)
{
    if (answer->etag == 0 || answer->etag_is_odd)
        return "no ETag";
    if (node->metadata != answer->metadata)
        return "other metadata";
    return fs_may_have(node, answer->etag);
}

const char *fs_compare(const struct fs_ask *ask, const struct reply *answer,
                       const struct fs_state *state)
{
    struct fs_expected expected = fs_expect(ask, state);
    const struct fs_node *node;
    const char *why;

    if (expected.code)
        return answer->status == expected.status && strcmp(answer->code, expected.code) == 0
                   ? NULL
                   : expected.code;
    if (expected.changes)
        return "success without a commit";
    if (answer->status != expected.status)
        return "a read that is refused";
    node = &fs_view(ask, state)->nodes[expected.node];
    why = compare_properties(node, answer);
    if (why || ask->op == FS_HEAD_DIRECTORY)
        return why;
    if (ask->op == FS_HEAD_FILE)
        return answer->length == (uint64_t)node->length * fs_slot_bytes() ? NULL : "another length";
    if (!ask->has_range)
        return compare_bytes(node, 0, node->length, answer);
    return compare_bytes(node, ask->from, ask->to < node->length ? ask->to : node->length, answer);
}
