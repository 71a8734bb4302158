/* See sm_model.h. */
#include "sm_model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fs_away.h"
#include "fs_copy.h"
#include "fs_judge.h"
#include "fs_opens.h"
#include "sim_limits.h"
#include "sm_list.h"
#include "sm_plain.h"
#include "world.h"

#define SM_OPEN_WAIT_NS (60 * UINT64_C(1000000000)) /* OPEN_WAIT_MAX_S */

static struct sm_expected refusal(uint32_t status)
{
    return (struct sm_expected){ .status = status, .node = FS_NODES };
}

/* For others, who cache: refused if it has waited in vain. */
static struct sm_expected waiting(unsigned node)
{
    return (struct sm_expected){ .status = SM_SHARING_VIOLATION, .waits = true, .node = node };
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

struct sm_expected sm_expect_at(const struct sm_ask *ask, const struct fs_state *state, unsigned at,
                                bool has_waited)
{
    const struct fs_node *node = &state->nodes[at];
    unsigned breaks_caching = replaces(ask) ? CACHES_ALL : ask->access != 0 ? CACHES_W : 0;
    const struct fs_use use = { .access = ask->access | (replaces(ask) ? MAY_W : 0),
                                .share = ask->share,
                                .breaks_caching = breaks_caching,
                                .waits_for = breaks_caching & CACHES_W,
                                .has_waited = has_waited };
    enum fs_bar bar;

    if (ask->disposition == SM_CREATE)
        return refusal(SM_NAME_COLLISION);
    if (node->is_directory && ask->kind == SM_FILE)
        return refusal(SM_IS_A_DIRECTORY);
    if (!node->is_directory && ask->kind == SM_DIRECTORY)
        return refusal(SM_NOT_A_DIRECTORY);
    if (node->is_directory && replaces(ask))
        return refusal(SM_INVALID_PARAMETER);
    fs_passes_begin();
    bar = fs_beside_opens(state, node, &use);
    if (bar == FS_DELETE_IS_PENDING)
        return refusal(SM_DELETE_PENDING);
    if (fs_opens_count(state, node) >= limit_of(LIMIT_OPENS, UINT_MAX)) {
        fs_passes_begin(); /* nobody is asked to give anything up */
        return refusal(SM_NO_RESOURCES);
    }
    if (bar == FS_OTHERS_CACHE && !is_leased(ask, node))
        return waiting(at);
    if (is_leased(ask, node) || bar == FS_IS_NOT_SHARED)
        return refusal(SM_SHARING_VIOLATION);
    if (replaces(ask) && fs_is_copied_to(node) && node->length > 0)
        return refusal(SM_SHARING_VIOLATION);
    return (struct sm_expected){ .changes = true,
                                 .node = at,
                                 .action = ask->disposition == SM_SUPERSEDE ? SM_SUPERSEDED
                                           : replaces(ask)                  ? SM_OVERWRITTEN
                                                                            : SM_OPENED };
}

/* Nothing is made in a directory that is to be deleted. */
static struct sm_expected expect_new(const struct sm_ask *ask, const struct fs_node *parent)
{
    if (!makes(ask))
        return refusal(SM_NAME_NOT_FOUND);
    if (parent->is_delete_pending)
        return refusal(SM_DELETE_PENDING);
    return (struct sm_expected){ .changes = true, .node = FS_NODES, .action = SM_CREATED };
}

static struct sm_expected expect_open(const struct sm_ask *ask, const struct fs_state *state,
                                      bool has_waited)
{
    unsigned parent, at;

    if (ask->kind == SM_DIRECTORY && replaces(ask))
        return refusal(SM_INVALID_PARAMETER);
    parent = fs_find_parent(state, &ask->path);
    if (parent == FS_NODES)
        return refusal(SM_PATH_NOT_FOUND);
    at = fs_find(state, &ask->path);
    return at < FS_NODES ? sm_expect_at(ask, state, at, has_waited)
                         : expect_new(ask, &state->nodes[parent]);
}

/* ---- by a handle ---- */

/* What the handle has to be opened for. */
static unsigned access_for(enum sm_op op)
{
    static const unsigned needed[SM_OPS] = {
        [SM_READ] = MAY_R,       [SM_WRITE] = MAY_W,  [SM_SET_LENGTH] = MAY_W, [SM_FLUSH] = MAY_W,
        [SM_SET_DELETE] = MAY_D, [SM_RENAME] = MAY_D, [SM_LIST] = MAY_R,       [SM_NOTIFY] = MAY_R,
    };

    return needed[op];
}

/* Others lose what they have cached of the data, and nobody waits for that. MS-FSA 2.1.5.4 */
static void break_data_caching(const struct sm_ask *ask, const struct fs_state *state,
                               const struct fs_node *node)
{
    const struct fs_use use = { .share = MAY_RWD,
                                .breaks_caching = CACHES_ALL,
                                .ignores_pending = true,
                                .changes_data = true,
                                .own = ask->handle.open };

    (void)fs_beside_opens(state, node, &use);
}

static struct sm_expected expect_bytes(const struct sm_ask *ask, const struct fs_state *state,
                                       struct sm_expected expected)
{
    const struct fs_node *node = &state->nodes[expected.node];
    uint64_t open = ask->handle.open;

    if (ask->op == SM_READ && fs_locks_bar_read(state, node, open, ask->from, ask->to))
        return refusal(SM_LOCK_CONFLICT);
    if (ask->op == SM_WRITE && fs_locks_bar_write(state, node, open, ask->from, ask->to))
        return refusal(SM_LOCK_CONFLICT);
    if (ask->op == SM_READ)
        return ask->from < node->length ? expected : refusal(SM_END_OF_FILE);
    expected.changes = true;
    if (fs_is_copied_to(node) && (ask->op == SM_WRITE || ask->length != node->length))
        return refusal(SM_SHARING_VIOLATION);
    if (fs_is_full(state, node->length, ask->op == SM_WRITE ? ask->to : ask->length))
        return refusal(SM_DISK_FULL);
    break_data_caching(ask, state, node);
    return expected;
}

static struct sm_expected expect_lock(const struct sm_ask *ask, const struct fs_state *state,
                                      struct sm_expected expected)
{
    const struct fs_lock wanted = { .open = ask->handle.open,
                                    .from = ask->from,
                                    .to = ask->to,
                                    .is_exclusive = ask->is_exclusive };
    bool is_barred = fs_locks_bar_lock(state, &state->nodes[expected.node], &wanted);

    expected.changes = true;
    if (ask->op == SM_LOCK && !is_barred &&
        fs_locks_count(state, &state->nodes[expected.node]) >= limit_of(LIMIT_LOCKS, UINT_MAX))
        return refusal(SM_NO_RESOURCES);
    if (ask->op == SM_LOCK && !is_barred)
        break_data_caching(ask, state, &state->nodes[expected.node]);
    if (ask->op == SM_LOCK)
        return !is_barred ? expected
                          : refusal(ask->waits_ns > 0 ? SM_CANCELLED : SM_LOCK_NOT_GRANTED);
    return fs_lock_of(state, wanted.open, ask->from, ask->to) ? expected
                                                              : refusal(SM_RANGE_NOT_LOCKED);
}

/* A name that goes, or is to go, is not opened anew: others lose their cached handles. MS-FSA 2.1.4.12 */
static enum fs_bar take_handles(const struct sm_ask *ask, const struct fs_state *state,
                                unsigned node, bool has_waited)
{
    const struct fs_use use = { .share = MAY_RWD,
                                .breaks_caching = CACHES_H,
                                .waits_for = CACHES_H,
                                .has_waited = has_waited,
                                .own = ask->handle.open };

    return fs_beside_opens(state, &state->nodes[node], &use);
}

static struct sm_expected expect_delete(const struct sm_ask *ask, const struct fs_state *state,
                                        struct sm_expected expected, bool has_waited)
{
    if (expected.node == FS_ROOT)
        return refusal(SM_CANNOT_DELETE);
    if (ask->deletes && fs_has_children(state, expected.node))
        return refusal(SM_NOT_EMPTY);
    expected.changes = state->nodes[expected.node].is_delete_pending != ask->deletes;
    if (expected.changes && ask->deletes &&
        take_handles(ask, state, expected.node, has_waited) == FS_OTHERS_CACHE)
        return waiting(expected.node);
    return expected;
}

/* Whoever has the directory open must bear that a name comes into it. MS-FSA 2.1.5.15.12 */
static enum fs_bar add_name(const struct fs_state *state, unsigned directory)
{
    const struct fs_use use = { .access = MAY_W, .share = MAY_R | MAY_W };

    return fs_beside_opens(state, &state->nodes[directory], &use);
}

bool sm_is_open_below(const struct fs_state *state, uint64_t directory)
{
    const struct fs_node *above = fs_node_of(state, directory);

    for (unsigned i = 0; i < FS_OPENS && above; i++) {
        const struct fs_node *node =
            state->opens[i].id > 0 ? fs_node_of(state, state->opens[i].node) : NULL;

        if (node && node != above &&
            fs_is_below(state, (unsigned)(node - state->nodes), (unsigned)(above - state->nodes)))
            return true;
    }
    return false;
}

/* What has the new name goes, if it is a file that nobody has open, nor has leased. MS-FSA 2.1.5.15.12 */
static struct sm_expected expect_replaced(const struct sm_ask *ask, const struct fs_state *state,
                                          struct sm_expected expected)
{
    const struct fs_use goes = { .access = MAY_D,
                                 .share = MAY_RWD,
                                 .needs_no_open = true,
                                 .breaks_caching = CACHES_H,
                                 .waits_for = CACHES_H };
    unsigned at = fs_find(state, &ask->path);
    enum fs_bar bar;

    if (at == FS_NODES || at == expected.node)
        return expected;
    if (!ask->replaces)
        return refusal(SM_NAME_COLLISION);
    if (state->nodes[at].is_directory || state->nodes[expected.node].is_directory ||
        state->nodes[at].lease.state == FS_LEASED)
        return refusal(SM_ACCESS_DENIED);
    bar = fs_beside_opens(state, &state->nodes[at], &goes);
    if (bar == FS_OTHERS_CACHE)
        return waiting(expected.node);
    if (bar == FS_DELETE_IS_PENDING)
        return refusal(SM_DELETE_PENDING);
    return bar == FS_NOTHING_BARS ? expected : refusal(SM_ACCESS_DENIED);
}

static struct sm_expected expect_rename(const struct sm_ask *ask, const struct fs_state *state,
                                        struct sm_expected expected, bool has_waited)
{
    unsigned to = fs_find_parent(state, &ask->path), node = expected.node;
    enum fs_bar bar;

    if (node == FS_ROOT)
        return refusal(SM_ACCESS_DENIED);
    if (to == FS_NODES)
        return refusal(SM_PATH_NOT_FOUND);
    if (fs_is_below(state, to, node))
        return refusal(SM_INVALID_PARAMETER);
    bar = take_handles(ask, state, node, has_waited);
    if (bar == FS_OTHERS_CACHE)
        return waiting(node);
    if (bar == FS_NOTHING_BARS)
        bar = add_name(state, to);
    if (bar != FS_NOTHING_BARS)
        return refusal(bar == FS_DELETE_IS_PENDING ? SM_DELETE_PENDING : SM_SHARING_VIOLATION);
    expected.changes = true;
    expected = expect_replaced(ask, state, expected);
    if (expected.changes && sm_is_open_below(state, state->nodes[node].id)) {
        expected = refusal(SM_ACCESS_DENIED);
        expected.is_by_below = true;
    }
    return expected;
}

static struct sm_expected expect_by_handle(const struct sm_ask *ask, const struct fs_state *state,
                                           bool has_waited)
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
    case SM_WRITE:
    case SM_SET_LENGTH:
        return expect_bytes(ask, state, expected);
    case SM_LOCK:
    case SM_UNLOCK:
        return expect_lock(ask, state, expected);
    case SM_SET_DELETE:
        return expect_delete(ask, state, expected, has_waited);
    case SM_RENAME:
        return expect_rename(ask, state, expected, has_waited);
    case SM_CLOSE:
        expected.changes = true;
        return expected;
    default:
        return expected;
    }
}

/* With a lease the name counts, too. MS-SMB2 3.3.5.9.12 */
static struct sm_expected expect_return(const struct sm_ask *ask, const struct fs_state *state)
{
    const struct fs_open *open = fs_open_created(state, ask->create);
    const struct fs_node *node = open ? fs_node_of(state, open->node) : NULL;
    unsigned at = fs_find(state, &ask->path);

    if (!node || !open->is_away ||
        world->now_ns > open->away_ns + open->kept_ns + open->kept_ns / 10)
        return refusal(SM_NAME_NOT_FOUND);
    if (ask->key > 0 && (at == FS_NODES || &state->nodes[at] != node))
        return refusal(SM_INVALID_PARAMETER);
    return (struct sm_expected){ .changes = true,
                                 .node = (unsigned)(node - state->nodes),
                                 .action = SM_OPENED };
}

struct sm_expected sm_expect(const struct sm_ask *ask, const struct fs_state *state,
                             bool has_waited)
{
    fs_passes_begin();
    if (ask->op == SM_RETURN)
        return expect_return(ask, state);
    return ask->op == SM_OPEN ? expect_open(ask, state, has_waited)
                              : expect_by_handle(ask, state, has_waited);
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

static const char *compare_query(const struct fs_node *node, const struct reply *answer)
{
    if (answer->smb.length != (uint64_t)node->length * fs_slot_bytes())
        return "another length";
    return answer->smb.is_delete_pending == node->is_delete_pending
               ? NULL
               : "another word on whether it is to be deleted";
}

/* The time that it is kept goes by the server's clock. */
static bool may_be_overdue(const struct sm_ask *ask, const struct fs_state *state)
{
    const struct fs_open *open = fs_open_created(state, ask->create);

    return (world->plan.faults & FAULTS_OF_TIME) ||
           (open && (open->may_have_ended ||
                     world->now_ns > open->away_ns + open->kept_ns - open->kept_ns / 10));
}

/* What it says is judged by sm_watch.c. */
static bool is_of_watch(uint32_t status)
{
    return status == SM_PENDING || status == SM_SUCCESS || status == SM_ENUM_DIR ||
           status == SM_DELETE_PENDING;
}

const char *sm_compare(const struct sm_ask *ask, const struct reply *answer,
                       const struct fs_state *state)
{
    struct sm_expected expected = sm_expect(ask, state, false);
    uint64_t wait_ns = ask->op == SM_OPEN ? SM_OPEN_WAIT_NS : FS_WAIT_NS;

    if (expected.waits && !fs_may_have_waited(answer, wait_ns))
        return "an answer that does not wait for others, or too long";
    if (ask->op == SM_RETURN && may_be_overdue(ask, state) &&
        answer->smb.status == SM_NAME_NOT_FOUND)
        return NULL;
    if (expected.changes)
        return "an answer without a commit";
    if (ask->op == SM_NOTIFY && expected.status == SM_SUCCESS)
        return is_of_watch(answer->smb.status) ? NULL : "another status";
    if (answer->smb.status != expected.status &&
        !(ask->op == SM_LIST && expected.status == SM_SUCCESS))
        return "another status";
    if (ask->op == SM_QUERY && expected.status == SM_SUCCESS)
        return compare_query(&state->nodes[expected.node], answer);
    if (ask->op == SM_LIST && expected.status == SM_SUCCESS)
        return sm_list_compare(ask, answer, state, &state->nodes[expected.node]);
    return ask->op == SM_READ && expected.status == SM_SUCCESS
               ? compare_bytes(ask, &state->nodes[expected.node], answer)
               : NULL;
}
