/* See sm_model.h. */
#include "sm_model.h"

#include <stdlib.h>
#include <string.h>

#include "fs_opens.h"

/* CreateAction. MS-SMB2 2.2.14 */
enum { SUPERSEDED, OPENED, CREATED, OVERWRITTEN };

static struct sm_expected refusal(uint32_t status)
{
    return (struct sm_expected){ .status = status, .node = FS_NODES };
}

/* ---- opens ---- */

static bool replaces(const struct sm_ask *ask)
{
    return ask->disposition == SM_SUPERSEDE || ask->disposition == SM_OVERWRITE ||
           ask->disposition == SM_OVERWRITE_IF;
}

static bool makes(const struct sm_ask *ask)
{
    return ask->disposition != SM_OPEN_THERE && ask->disposition != SM_OVERWRITE;
}

/* A lease of REST keeps others from writing and deleting. semantics 8.2 */
static bool is_leased(const struct sm_ask *ask, const struct fs_node *node)
{
    return node->lease.state == FS_LEASED &&
           (replaces(ask) || (ask->access & (MAY_W | MAY_D)) != 0);
}

struct sm_expected sm_expect_at(const struct sm_ask *ask, const struct fs_state *state, unsigned at)
{
    const struct fs_node *node = &state->nodes[at];
    const struct fs_use use = { .access = ask->access | (replaces(ask) ? MAY_W : 0),
                                .share = ask->share };
    enum fs_bar bar;

    if (ask->disposition == SM_CREATE)
        return refusal(SM_NAME_COLLISION);
    if (node->is_directory)
        return refusal(SM_IS_A_DIRECTORY);
    bar = fs_beside_opens(state, node, &use);
    if (bar == FS_DELETE_IS_PENDING)
        return refusal(SM_DELETE_PENDING);
    if (is_leased(ask, node) || bar == FS_IS_NOT_SHARED)
        return refusal(SM_SHARING_VIOLATION);
    return (struct sm_expected){ .changes = true,
                                 .node = at,
                                 .action = ask->disposition == SM_SUPERSEDE ? SUPERSEDED
                                           : replaces(ask)                  ? OVERWRITTEN
                                                                            : OPENED };
}

static struct sm_expected expect_open(const struct sm_ask *ask, const struct fs_state *state)
{
    struct fs_path above = ask->path;
    unsigned parent, at;

    above.depth--;
    parent = fs_find(state, &above);
    if (parent == FS_NODES || !state->nodes[parent].is_directory)
        return refusal(SM_PATH_NOT_FOUND);
    at = fs_find(state, &ask->path);
    if (at < FS_NODES)
        return sm_expect_at(ask, state, at);
    return makes(ask) ? (struct sm_expected){ .changes = true, .node = FS_NODES, .action = CREATED }
                      : refusal(SM_NAME_NOT_FOUND);
}

/* ---- by a handle ---- */

/* What the handle has to be opened for. */
static unsigned access_for(enum sm_op op)
{
    return op == SM_READ                                             ? MAY_R
           : op == SM_WRITE || op == SM_SET_LENGTH || op == SM_FLUSH ? MAY_W
                                                                     : 0;
}

/* Does it become longer than the share has room for? */
static bool is_full(const struct fs_state *state, unsigned was, unsigned length)
{
    uint64_t more = ((uint64_t)length - was) * fs_slot_bytes();

    return length > was && fs_used_bytes(state) + more > (uint64_t)state->quota << 30;
}

static struct sm_expected expect_by_handle(const struct sm_ask *ask, const struct fs_state *state)
{
    const struct fs_open *open = fs_open_of(state, ask->handle.open);
    const struct fs_node *node = open ? fs_node_of(state, open->node) : NULL;
    struct sm_expected expected = { .node = FS_NODES };

    if (!node)
        return refusal(SM_FILE_CLOSED);
    if (access_for(ask->op) & ~open->access)
        return refusal(SM_ACCESS_DENIED);
    expected.node = (unsigned)(node - state->nodes);
    switch ((int)ask->op) {
    case SM_READ:
        if (ask->from >= node->length)
            expected.status = SM_END_OF_FILE;
        return expected;
    case SM_WRITE:
        expected.changes = true;
        return is_full(state, node->length, ask->to) ? refusal(SM_DISK_FULL) : expected;
    case SM_SET_LENGTH:
        expected.changes = true;
        return is_full(state, node->length, ask->length) ? refusal(SM_DISK_FULL) : expected;
    case SM_CLOSE:
        expected.changes = true;
        return expected;
    default:
        return expected;
    }
}

struct sm_expected sm_expect(const struct sm_ask *ask, const struct fs_state *state)
{
    return ask->op == SM_OPEN ? expect_open(ask, state) : expect_by_handle(ask, state);
}

/* ---- answers that changed nothing ---- */

static const char *compare_bytes(const struct sm_ask *ask, const struct fs_node *node,
                                 const struct reply *answer)
{
    unsigned to = ask->to < node->length ? ask->to : node->length;
    size_t slot = fs_slot_bytes(), size = (to - ask->from) * slot;
    unsigned char *expected = calloc(1, size + 1);
    bool same;

    for (unsigned i = ask->from; i < to && i < FS_SLOTS; i++)
        fs_slot_fill(node->slots[i], expected + (i - ask->from) * slot);
    same = answer->body_size == size && memcmp(expected, answer->body, size) == 0;
    free(expected);
    return same ? NULL : "other bytes";
}

const char *sm_compare(const struct sm_ask *ask, const struct reply *answer,
                       const struct fs_state *state)
{
    struct sm_expected expected = sm_expect(ask, state);

    if (expected.changes)
        return "an answer without a commit";
    if (answer->smb.status != expected.status)
        return "another status";
    return ask->op == SM_READ && expected.status == SM_SUCCESS
               ? compare_bytes(ask, &state->nodes[expected.node], answer)
               : NULL;
}
