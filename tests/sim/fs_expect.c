/* What the model expects of each request. rest: File-Service-REST-API; semantics 2.2, 3.5, 8.1 */
#include <limits.h>
#include <string.h>

#include "fs_blobs.h"
#include "fs_copy.h"
#include "fs_deleted.h"
#include "fs_opens.h"
#include "sim_limits.h"
#include "world.h"

static struct fs_expected refusal(int status, const char *code)
{
    return (struct fs_expected){ .status = status, .code = code };
}

/* What stands in the way of looking the path up; code NULL: nothing does. */
static struct fs_expected look_up(const struct fs_state *state, const struct fs_path *path,
                                  unsigned *ret_node)
{
    if (fs_find_parent(state, path) == FS_NODES)
        return refusal(404, "ParentNotFound");
    *ret_node = fs_find(state, path);
    return (struct fs_expected){ .code = NULL };
}

/* A directory or file that must be there, and be of that kind. */
static struct fs_expected look_for(const struct fs_state *state, const struct fs_path *path,
                                   bool is_directory, unsigned *ret_node)
{
    struct fs_expected refused = look_up(state, path, ret_node);

    if (refused.code)
        return refused;
    if (*ret_node == FS_NODES)
        return refusal(404, "ResourceNotFound");
    if (state->nodes[*ret_node].is_directory != is_directory)
        return refusal(409, "ResourceTypeMismatch");
    return refused;
}

static struct fs_expected of_lease(const struct fs_lease *lease, unsigned id, bool is_write,
                                   bool of_file)
{
    const char *code = fs_lease_use(lease, id, is_write, of_file);

    return code ? refusal(412, code) : (struct fs_expected){ .code = NULL };
}

/* What SMB clients have open of it. */
static struct fs_expected beside_opens(const struct fs_state *state, unsigned node,
                                       const struct fs_use *use)
{
    enum fs_bar bar = fs_beside_opens(state, &state->nodes[node], use);
    struct fs_expected refused = refusal(bar == FS_OTHERS_CACHE ? 500 : 409, fs_bar_code(bar));

    refused.waits = bar == FS_OTHERS_CACHE;
    return refused;
}

static struct fs_expected pass(const struct fs_ask *ask, const struct fs_state *state,
                               unsigned node)
{
    const struct fs_use use = fs_use_of(ask);

    return beside_opens(state, node, &use);
}

/* Nothing is made in a directory that is to be deleted. decision: 338 */
static struct fs_expected beside_name(const struct fs_state *state, const struct fs_path *path)
{
    unsigned parent = fs_find_parent(state, path);

    return state->nodes[parent].is_delete_pending ? refusal(409, "DeletePending")
                                                  : (struct fs_expected){ .code = NULL };
}

static const struct fs_lease no_lease = { .state = FS_AVAILABLE };

/* Also of a copy, whose length is that of its source. */
static struct fs_expected expect_create(const struct fs_ask *ask, const struct fs_state *state)
{
    unsigned node;
    struct fs_expected refused = look_up(state, &ask->path, &node);
    bool is_there = !refused.code && node < FS_NODES;

    if (!refused.code && ask->op != FS_CREATE_DIRECTORY)
        refused =
            of_lease(is_there ? &state->nodes[node].lease : &no_lease, ask->lease, true, true);
    if (!refused.code)
        refused = is_there ? pass(ask, state, node) : beside_name(state, &ask->path);
    if (refused.code)
        return refused;
    if (is_there && ask->op == FS_CREATE_DIRECTORY)
        return refusal(409, "ResourceAlreadyExists");
    if (is_there && state->nodes[node].is_directory)
        return refusal(409, "ResourceTypeMismatch");
    if (is_there && fs_locks_bar_write(state, &state->nodes[node], 0, 0, 0))
        return refusal(409, "FileLockConflict");
    if (fs_is_full(state, is_there ? state->nodes[node].length : 0, ask->length))
        return refusal(403, "ShareSizeLimitReached");
    return (struct fs_expected){ .status = ask->op == FS_COPY_FILE ? 202 : 201, .changes = true };
}

/* The destination's directory is looked for before the source. rest: Rename-File; semantics 8.1 */
static struct fs_expected expect_rename(const struct fs_ask *ask, const struct fs_state *state)
{
    bool is_directory = ask->op == FS_RENAME_DIRECTORY, replaces;
    unsigned from, to;
    const struct fs_use stays = { .share = MAY_RWD }, goes = fs_use_of_source(ask);
    struct fs_expected refused = look_up(state, &ask->path, &to);

    if (!refused.code)
        refused = to < FS_NODES ? beside_opens(state, to, &stays) : beside_name(state, &ask->path);
    if (!refused.code)
        refused = look_for(state, &ask->source, is_directory, &from);
    if (refused.code)
        return refused;
    replaces = to < FS_NODES && to != from && ask->replaces &&
               (is_directory || !state->nodes[to].is_directory);
    refused = of_lease(&state->nodes[from].lease, ask->source_lease, true, true);
    if (!refused.code)
        refused = of_lease(replaces ? &state->nodes[to].lease : &no_lease, ask->lease, true, true);
    if (!refused.code && replaces)
        refused = pass(ask, state, to);
    if (!refused.code)
        refused = beside_opens(state, from, &goes);
    if (refused.code)
        return refused;
    if (is_directory && fs_is_below(state, fs_find_parent(state, &ask->path), from))
        return refusal(400, "InvalidHeaderValue");
    if (to < FS_NODES && to != from) {
        if (!ask->replaces)
            return refusal(409, "ResourceAlreadyExists");
        if (state->nodes[to].is_directory && !is_directory)
            return refusal(409, "ResourceTypeMismatch");
        if (fs_has_children(state, to))
            return refusal(409, "DirectoryNotEmpty");
    }
    return (struct fs_expected){ .status = 200, .changes = true };
}

static bool is_of_directory(enum fs_op op)
{
    return op == FS_SET_DIRECTORY_METADATA || op == FS_DELETE_DIRECTORY ||
           op == FS_HEAD_DIRECTORY || op == FS_LIST_FILES;
}

static struct fs_expected expect_lease(const struct fs_ask *ask, struct fs_lease lease,
                                       bool of_file, unsigned node)
{
    const char *code = fs_lease_act(&lease, ask, of_file);

    if (code)
        return refusal(409, code);
    return (
        struct fs_expected){ .status = fs_lease_status(ask->act), .changes = true, .node = node };
}

/* Has an SMB client locked any of the bytes that are read? */
static bool is_locked(const struct fs_ask *ask, const struct fs_state *state, unsigned node)
{
    unsigned length = state->nodes[node].length;
    unsigned to = ask->has_range && ask->to < length ? ask->to : length;

    return fs_locks_bar_read(state, &state->nodes[node], 0, ask->has_range ? ask->from : 0, to);
}

/* rest: Abort-Copy-File */
static struct fs_expected expect_abort(const struct fs_ask *ask, const struct fs_state *state,
                                       const struct fs_node *node)
{
    if (!fs_is_copied_to(node))
        return refusal(409, "NoPendingCopyOperation");
    if (memcmp(&node->copy->id, &ask->copy, sizeof ask->copy) != 0)
        return refusal(409, "CopyIdMismatch");
    return fs_locks_bar_write(state, node, 0, 0, 0)
               ? refusal(409, "FileLockConflict")
               : (struct fs_expected){ .status = 204, .changes = true };
}

static struct fs_expected expect_write(const struct fs_ask *ask, const struct fs_state *state,
                                       const struct fs_node *node)
{
    if (fs_locks_bar_write(state, node, 0, ask->from, ask->to))
        return refusal(409, "FileLockConflict");
    if (fs_is_copied_to(node))
        return refusal(409, "PendingCopyOperation");
    return ask->to > node->length ? refusal(416, "InvalidRange")
                                  : (struct fs_expected){ .status = 201, .changes = true };
}

static struct fs_expected expect_length(const struct fs_ask *ask, const struct fs_state *state,
                                        const struct fs_node *node)
{
    if (ask->length != node->length && fs_locks_bar_write(state, node, 0, 0, 0))
        return refusal(409, "FileLockConflict");
    if (ask->length != node->length && fs_is_copied_to(node))
        return refusal(409, "PendingCopyOperation");
    return fs_is_full(state, node->length, ask->length)
               ? refusal(403, "ShareSizeLimitReached")
               : (struct fs_expected){ .status = 200, .changes = true };
}

/* What else is of a file or directory that is there. */
static struct fs_expected expect_at(const struct fs_ask *ask, const struct fs_state *state,
                                    unsigned node)
{
    unsigned length = state->nodes[node].length;

    switch ((int)ask->op) {
    case FS_PUT_RANGE:
    case FS_PUT_RANGE_FROM_URL:
    case FS_CLEAR_RANGE:
        return expect_write(ask, state, &state->nodes[node]);
    case FS_SET_LENGTH:
        return expect_length(ask, state, &state->nodes[node]);
    case FS_ABORT_COPY:
        return expect_abort(ask, state, &state->nodes[node]);
    case FS_DELETE_DIRECTORY:
        if (fs_has_children(state, node))
            return refusal(409, "DirectoryNotEmpty");
        /* fall through */
    case FS_DELETE_FILE:
        return (struct fs_expected){ .status = 202, .changes = true };
    case FS_GET_FILE:
        if (ask->has_range && ask->from >= length)
            return refusal(416, "InvalidRange");
        if (!state->is_kept && is_locked(ask, state, node))
            return refusal(409, "FileLockConflict");
        return (struct fs_expected){ .status = ask->has_range ? 206 : 200, .node = node };
    default:
        return (struct fs_expected){ .status = 200, .changes = !fs_is_read(ask->op), .node = node };
    }
}

static struct fs_expected expect_of(const struct fs_ask *ask, const struct fs_state *state)
{
    bool is_directory = is_of_directory(ask->op);
    struct fs_lease lease;
    unsigned node;
    struct fs_expected refused = look_for(state, &ask->path, is_directory, &node);

    /* A file that is read as a directory. decision: 325 */
    if (refused.status == 409 && is_directory && fs_is_read(ask->op))
        refused = refusal(404, "ResourceNotFound");
    if (refused.code)
        return refused;
    lease = state->is_kept ? no_lease : state->nodes[node].lease;
    if (!is_directory && ask->op != FS_LEASE_FILE)
        refused = of_lease(&lease, ask->lease, !fs_is_read(ask->op), true);
    if (!refused.code)
        refused = pass(ask, state, node);
    if (!refused.code && ask->op == FS_LEASE_FILE)
        return expect_lease(ask, lease, true, node);
    return refused.code ? refused : expect_at(ask, state, node);
}

/* The snapshot that ranges are compared with comes after the file and its lease. decision: 305 */
static struct fs_expected expect_ranges(const struct fs_ask *ask, const struct fs_state *state,
                                        const struct fs_state *view)
{
    struct fs_expected expected = expect_of(ask, view);

    if (expected.code)
        return expected;
    if (ask->previous.commit > 0 && view->is_kept && strcmp(ask->previous.date, view->date) > 0)
        return refusal(400, "PreviousSnapshotCannotBeNewer");
    if (!fs_view(&ask->previous, state))
        return refusal(409, "PreviousSnapshotNotFound");
    if (ask->has_range && ask->from >= view->nodes[expected.node].length)
        return refusal(416, "InvalidRange");
    return expected;
}

/* Of what a path names, whatever kind it has. */
static struct fs_expected expect_handles(const struct fs_ask *ask, const struct fs_state *state)
{
    unsigned node;
    struct fs_expected refused = look_up(state, &ask->path, &node);

    if (refused.code)
        return refused;
    return node < FS_NODES ? (struct fs_expected){ .status = 200, .node = node }
                           : refusal(404, "ResourceNotFound");
}

/* Snapshots go with it, or stand in the way. rest: Delete-Share */
static struct fs_expected expect_delete_share(const struct fs_ask *ask,
                                              const struct fs_state *state)
{
    struct fs_expected refused = of_lease(&state->lease, ask->lease, true, false);

    if (refused.code)
        return refused;
    if (!ask->replaces && fs_next_snapshot(state, state->share, NULL))
        return refusal(409, "ShareHasSnapshots");
    return (struct fs_expected){ .status = 202, .changes = true };
}

static struct fs_expected expect_restore(const struct fs_ask *ask, const struct fs_state *state)
{
    if (state->exists)
        return refusal(409, "ShareAlreadyExists");
    return fs_deleted_at(state, ask->snapshot.commit)
               ? (struct fs_expected){ .status = 201, .changes = true }
               : refusal(404, "ShareNotFound");
}

static bool has_permission(const struct fs_state *state, unsigned permission)
{
    return state->permissions >> permission & 1;
}

static unsigned count_snapshots(const struct fs_state *state)
{
    unsigned count = 0;

    for (const struct fs_state *kept = NULL; (kept = fs_next_snapshot(state, state->share, kept));)
        count++;
    return count;
}

static struct fs_expected expect_of_share(const struct fs_ask *ask, const struct fs_state *state)
{
    const char *code = NULL;

    if (ask->op == FS_SET_QUOTA || ask->op == FS_HEAD_SHARE)
        code = fs_lease_use(&state->lease, ask->lease, false, false);
    if (code)
        return refusal(412, code);
    switch ((int)ask->op) {
    case FS_SNAPSHOT_SHARE:
        if (count_snapshots(state) >= limit_of(LIMIT_SNAPSHOTS, UINT_MAX))
            return refusal(409, "ShareSnapshotCountExceeded");
        return (struct fs_expected){ .status = 201, .changes = true };
    case FS_DELETE_SNAPSHOT:
        return (struct fs_expected){ .status = 202, .changes = true };
    case FS_CREATE_PERMISSION:
        return (struct fs_expected){ .status = 201,
                                     .changes = !has_permission(state, ask->permission) };
    case FS_GET_PERMISSION:
        return has_permission(state, ask->permission) ? (struct fs_expected){ .status = 200 }
                                                      : refusal(400, "FileInvalidPermissionKey");
    case FS_LEASE_SHARE:
        return expect_lease(ask, state->lease, false, FS_ROOT);
    case FS_DELETE_SHARE:
        return expect_delete_share(ask, state);
    default:
        return (struct fs_expected){ .status = 200, .changes = !fs_is_read(ask->op) };
    }
}

/* May who has the signature not? Then nothing is said of what is there. */
static struct fs_expected lacks_letters(const struct fs_ask *ask, const struct fs_state *state)
{
    const char *has = fs_letters[ask->letters], *needed = fs_needs_letters(ask);

    if (ask->letters == 0 || strpbrk(has, needed))
        return (struct fs_expected){ .code = NULL };
    if (ask->op != FS_CREATE_FILE || !strchr(has, 'c'))
        return refusal(403, "AuthorizationPermissionMismatch");
    return state->exists && fs_find(state, &ask->path) < FS_NODES
               ? refusal(403, "UnauthorizedBlobOverwrite")
               : (struct fs_expected){ .code = NULL };
}

struct fs_expected fs_expect(const struct fs_ask *ask, const struct fs_state *state)
{
    struct fs_expected refused = lacks_letters(ask, state);
    const struct fs_state *view;

    fs_passes_begin();
    if (refused.code)
        return refused;
    if (fs_is_of_blob(ask->op))
        return fs_expect_blob(ask, state);
    if (ask->op == FS_CREATE_SHARE)
        return state->exists ? refusal(409, "ShareAlreadyExists")
                             : (struct fs_expected){ .status = 201, .changes = true };
    if (ask->op == FS_LIST_SHARES || ask->op == FS_GET_SERVICE)
        return (struct fs_expected){ .status = 200 };
    if (ask->op == FS_KEEP_SHARES)
        return (struct fs_expected){ .status = 202, .changes = true };
    if (ask->op == FS_RESTORE_SHARE)
        return expect_restore(ask, state);
    view = state->exists ? fs_view(&ask->snapshot, state) : NULL;
    if (!view)
        return refusal(404, "ShareNotFound");
    if (!fs_has_path(ask->op))
        return expect_of_share(ask, state);
    switch ((int)ask->op) {
    case FS_CREATE_DIRECTORY:
    case FS_CREATE_FILE:
    case FS_COPY_FILE:
        return expect_create(ask, state);
    case FS_RENAME_FILE:
    case FS_RENAME_DIRECTORY:
        return expect_rename(ask, state);
    case FS_LIST_RANGES:
        return expect_ranges(ask, state, view);
    case FS_LIST_HANDLES:
        return expect_handles(ask, view);
    default:
        return expect_of(ask, view);
    }
}

/* ---- sources ---- */

bool fs_has_source(enum fs_op op)
{
    return op == FS_COPY_FILE || op == FS_PUT_RANGE_FROM_URL;
}

/* A file of the share, or of its snapshot. *ret_length: slots */
static struct fs_expected expect_source_file(const struct fs_ask *ask, const struct fs_state *state,
                                             unsigned *ret_length)
{
    const struct fs_state *view = state->exists ? fs_view(&ask->source_snapshot, state) : NULL;
    const struct fs_use use = fs_use_of_source(ask);
    struct fs_expected refused;
    unsigned node;

    if (!view)
        return refusal(404, "ShareNotFound");
    refused = look_for(view, &ask->source, false, &node);
    if (refused.code)
        return refused;
    *ret_length = view->nodes[node].length;
    refused = beside_opens(view, node, &use);
    if (!refused.code && !view->is_kept &&
        fs_locks_bar_read(view, &view->nodes[node], 0, 0, *ret_length))
        refused = refusal(409, "FileLockConflict");
    return refused;
}

/* Copy File says what a read of it would be answered, what reads at once that it cannot verify it. */
struct fs_expected fs_expect_source(const struct fs_ask *ask, const struct fs_state *state)
{
    struct fs_expected refused;
    unsigned length = 0;

    fs_passes_begin();
    if (ask->is_remote)
        return ask->fate == FATE_LIES_AT_ONCE ? refusal(500, "CannotVerifyCopySource")
                                              : (struct fs_expected){ .code = NULL };
    if (ask->source_blob > 0)
        refused = fs_expect_source_blob(state, ask->source_blob - 1, &length);
    else
        refused = expect_source_file(ask, state, &length);
    if (ask->op == FS_COPY_FILE)
        return refused;
    if (!refused.code && ask->source_from + (ask->to - ask->from) > length)
        refused = refusal(416, "InvalidRange");
    if (refused.code)
        refused.code = "CannotVerifyCopySource";
    return refused;
}

const struct fs_node *fs_source_node(const struct fs_ask *ask, const struct fs_state *state)
{
    const struct fs_state *view;

    if (ask->source_blob > 0)
        return &state->blobs[ask->source_blob - 1];
    view = fs_view(&ask->source_snapshot, state);
    return &view->nodes[fs_find(view, &ask->source)];
}

const struct fs_node *fs_find_source(const struct fs_ask *ask, uint64_t etag, uint64_t since)
{
    const struct fs_state *state = fs_state_at(world->commits);

    for (;; state = state->older) {
        if (!fs_expect_source(ask, state).code && fs_source_node(ask, state)->etag == etag)
            return fs_source_node(ask, state);
        if (state->since <= since || !state->older)
            return NULL;
    }
}
