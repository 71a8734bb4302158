/* An answer beside a state of the tree: see fs_judge.h. */
#include <stdlib.h>
#include <string.h>

#include "fs_copy.h"
#include "fs_judge.h"
#include "fs_list.h"
#include "fs_model.h"
#include "fs_ranges.h"
#include "sm_link.h"
#include "world.h"

/* The bytes that came, of slots `from` to `to` of a file. */
static const char *compare_bytes(const struct fs_node *node, unsigned from, unsigned to,
                                 const struct reply *answer)
{
    size_t slot = fs_slot_bytes(), size = (to - from) * slot;
    unsigned char *expected = calloc(1, size + 1);
    bool same;

    for (unsigned i = from; i < to && i < FS_SLOTS; i++)
        fs_slot_fill(node->slots[i], expected + (i - from) * slot);
    same = answer->length == size && answer->body_size <= size &&
           memcmp(expected, answer->body, answer->body_size) == 0;
    free(expected);
    return same ? NULL : "other bytes";
}

static const char *compare_bytes_asked(const struct fs_ask *ask, const struct fs_node *node,
                                       const struct reply *answer)
{
    if (!ask->has_range)
        return compare_bytes(node, 0, node->length, answer);
    return compare_bytes(node, ask->from, ask->to < node->length ? ask->to : node->length, answer);
}

static const char *compare_lease(const struct fs_lease *lease, const struct reply *answer)
{
    return strcmp(answer->lease_state, fs_lease_states[lease->state]) == 0
               ? NULL
               : "another state of the lease";
}

static const char *compare_etag(const struct fs_node *node, const struct reply *answer)
{
    if (answer->etag == 0 || answer->etag_is_odd)
        return "no ETag";
    return fs_may_have(node, answer->etag);
}

static const char *compare_properties(const struct fs_state *view, const struct fs_node *node,
                                      const struct reply *answer)
{
    const char *why = compare_etag(node, answer);

    if (why)
        return why;
    if (node->metadata != answer->metadata)
        return "other metadata";
    if (node->file_id != 0 && answer->fs.file_id != node->file_id)
        return "another id";
    if (node->permission > 0 && fs_known_key(node->permission)[0] &&
        strcmp(answer->fs.permission_key, fs_known_key(node->permission)) != 0)
        return "another permission";
    if (node->is_directory)
        return NULL;
    why = fs_compare_copied(node, answer);
    if (why)
        return why;
    if (view->is_kept) /* of a snapshot: has no lease, and no headers of one. decision: 319 */
        return answer->lease_state[0] == '\0' ? NULL : "a lease in a snapshot";
    return compare_lease(&node->lease, answer);
}

static const char *compare_ranges(const struct fs_ask *ask, const struct fs_state *state,
                                  const struct fs_node *node, const struct reply *answer)
{
    const struct fs_state *previous =
        ask->previous.commit > 0 ? fs_view(&ask->previous, state) : NULL;
    const struct fs_node *older = previous ? fs_node_of(previous, node->id) : NULL;
    const char *why = compare_etag(node, answer);

    if (older && older->content != node->content)
        older = NULL;
    return why ? why : fs_compare_ranges(ask, node, older, previous ? previous->made : 0, answer);
}

static const char *compare_share(const struct fs_state *state, const struct reply *answer)
{
    if (answer->fs.quota != state->quota)
        return "another quota";
    return compare_lease(&state->lease, answer);
}

static const char *compare_permission(const struct fs_ask *ask, const struct reply *answer)
{
    if (ask->op == FS_CREATE_PERMISSION)
        return fs_tell_key(ask->permission, answer->fs.permission_key);
    answer->body[answer->body_size] = '\0';
    return strstr((const char *)answer->body, fs_permissions[ask->permission])
               ? NULL
               : "another permission than that of the key";
}

static const char *compare_handles(const struct reply *answer)
{
    answer->body[answer->body_size] = '\0';
    /* They come from the index of the share, read after the node. */
    if (world->plan.faults & FAULT_SMB)
        return NULL;
    return strstr((const char *)answer->body, "<Handle>") ? "a handle that nobody has opened"
                                                          : NULL;
}

static const char *compare_service(const struct fs_state *state, const struct reply *answer)
{
    const char *body = (const char *)answer->body;
    char days[16] = "0";

    answer->body[answer->body_size] = '\0';
    (void)fs_element(body, body + answer->body_size, "Days", days, sizeof days);
    return (unsigned)atoi(days) == state->retention ? NULL : "other days of retention";
}

static const char *compare_blob(const struct fs_ask *ask, const struct fs_node *blob,
                                const struct reply *answer)
{
    const char *why = compare_etag(blob, answer);

    if (!why && blob->metadata != answer->metadata)
        why = "other metadata";
    return why ? why : compare_bytes_asked(ask, blob, answer);
}

static const char *compare_success(const struct fs_ask *ask, const struct reply *answer,
                                   const struct fs_state *state, unsigned at)
{
    const struct fs_state *view = fs_view(&ask->snapshot, state);
    const struct fs_node *node = view ? &view->nodes[at] : NULL;
    const char *why;

    switch ((int)ask->op) {
    case FS_GET_SERVICE:
        return compare_service(state, answer);
    case FS_GET_BLOB:
        return compare_blob(ask, &state->blobs[ask->blob], answer);
    case FS_LIST_SHARES:
        return fs_compare_shares(ask, state, answer);
    case FS_LIST_FILES:
        return fs_compare_files(ask, state, answer);
    case FS_LIST_HANDLES:
        return compare_handles(answer);
    case FS_LIST_RANGES:
        return compare_ranges(ask, state, node, answer);
    case FS_HEAD_SHARE:
        return compare_share(state, answer);
    case FS_CREATE_PERMISSION:
    case FS_GET_PERMISSION:
        return compare_permission(ask, answer);
    default:
        break;
    }
    why = compare_properties(view, node, answer);
    if (why || ask->op == FS_HEAD_DIRECTORY)
        return why;
    if (ask->op == FS_HEAD_FILE)
        return answer->length == (uint64_t)node->length * fs_slot_bytes() ? NULL : "another length";
    return compare_bytes_asked(ask, node, answer);
}

/* So long, and somebody may have let it wait. The server's clock may be set. */
bool fs_may_have_waited(const struct reply *answer, uint64_t ns)
{
    if (world->plan.faults & FAULT_CLOCK)
        return true;
    return !sm_answers_at_once() && answer->ended_ns - answer->began_ns >= ns - ns / 10;
}

const char *fs_compare(const struct fs_ask *ask, const struct reply *answer,
                       const struct fs_state *state)
{
    struct fs_expected expected = fs_expect(ask, state);

    /* One that was deleted a moment ago may be deleted again. decision: 62 */
    if (ask->op == FS_DELETE_SHARE && !state->exists &&
        (answer->status == 202 ||
         strcmp(answer->code, "LeaseNotPresentWithContainerOperation") == 0))
        return NULL;
    if (expected.waits && !fs_may_have_waited(answer, FS_WAIT_NS))
        return "an answer that does not wait for SMB clients, or too long";
    if (expected.code)
        return answer->status == expected.status && strcmp(answer->code, expected.code) == 0
                   ? NULL
                   : expected.code;
    if (expected.changes)
        return "success without a commit";
    if (answer->status != expected.status)
        return "a read that is refused";
    return compare_success(ask, answer, state, expected.node);
}

const char *fs_compare_copy(const struct fs_ask *ask, const struct reply *answer,
                            const struct fs_state *source, const struct fs_state *state)
{
    struct fs_expected expected = fs_expect_source(ask, source);
    struct fs_ask of_length = *ask;

    if (expected.code && answer->status == expected.status &&
        strcmp(answer->code, expected.code) == 0)
        return expected.waits && !fs_may_have_waited(answer, FS_WAIT_NS)
                   ? "a copy that has waited for SMB clients too long"
                   : NULL;
    if (!expected.code && ask->op == FS_COPY_FILE)
        of_length.length =
            ask->is_remote ? ask->source_length : fs_source_node(ask, source)->length;
    return fs_compare(&of_length, answer, state);
}
