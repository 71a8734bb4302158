/* Expected responses to requests for paths: permissions, leases, conditions, and then what each operation requires.
 * rest: datalakestoragegen2; decisions: 1207, 1260 */
#include <string.h>

#include "base/dates.h"
#include "path_state.h"
#include "sim_limits.h"
#include "world.h"

/* One request, and the state that it is decided on. */
struct run {
    const struct path_ask *ask;
    const struct path_state *state; /* as requests see it: path_effective() */
    const struct path_state *raw;
    const struct path_moment *moment;
    unsigned doubts;
};

static struct path_expected refusal(int status, const char *code)
{
    return (struct path_expected){ .status = status, .code = code };
}

static struct path_expected refusal_over(const char *code, const struct path_node *node)
{
    return (struct path_expected){ .status = 409,
                                   .code = code,
                                   .existing = node->is_directory ? "directory" : "" };
}

static struct path_expected success(int status, unsigned place)
{
    return (struct path_expected){ .status = status, .changes = true, .place = place };
}

/* A success that changes something or nothing. */
static struct path_expected either_way(int status, unsigned place)
{
    struct path_expected expected = success(status, place);

    expected.may_change_nothing = true;
    return expected;
}

/* ---- doubts ---- */

static bool lease_is_doubtful(const struct path_node *node, const struct path_moment *moment)
{
    return node && model_lease_doubtful(&node->lease, moment->from_ns, moment->to_ns);
}

/* A file that has only staged blocks has a date that no response shows. */
static bool date_is_doubtful(const struct path_node *node, const struct path_condition *condition)
{
    return node && condition->kind >= PATH_IF_MODIFIED && node->stamp->modified_s == 0;
}

/* Doubts about what has expired. */
static unsigned find_ends(const struct path_state *state, const struct path_moment *moment)
{
    uint64_t first = moment->view.first, last = moment->view.last;
    unsigned doubts = 0;

    for (unsigned i = 0; i < PATH_PLACES; i++) {
        if (!state->nodes[i] || !path_has_expired(state->nodes[i], last))
            continue;
        doubts |= PATH_COLLECTED;
        if (!path_has_expired(state->nodes[i], first))
            doubts |= PATH_NOW_LATE;
    }
    for (const struct path_kept *kept = state->kept; kept && first < last; kept = kept->older)
        doubts |= PATH_NOW_LATE;
    return doubts;
}

/* Whatever has expired by then, and was collected. */
static unsigned find_refusals(const struct path_ask *ask, const struct path_state *state,
                              const struct path_moment *moment, unsigned *ret_certain)
{
    static const unsigned ends[] = { 0, PATH_NOW_LATE, PATH_NOW_LATE | PATH_COLLECTED };
    unsigned possible = 0;

    *ret_certain = ~0u;
    for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct path_state effective;
        unsigned certain;

        path_effective(state, moment, ends[i], &effective);
        possible |= path_find_refusals(ask, &effective, moment, &certain);
        *ret_certain &= certain;
    }
    return possible;
}

void path_find_doubts(const struct path_ask *ask, uint64_t commit, const struct path_moment *moment,
                      unsigned *ret_possible, unsigned *ret_certain)
{
    const struct path_state *state = path_state_at(commit);
    bool renames = ask->op == PATH_RENAME;
    const struct path_node *node =
        state->nodes[renames ? path_destination(ask, state) : ask->place];
    const struct path_node *from = renames ? state->nodes[ask->from] : NULL;

    *ret_possible = find_refusals(ask, state, moment, ret_certain) | find_ends(state, moment) |
                    (lease_is_doubtful(node, moment) ? PATH_LATE : 0u) |
                    (lease_is_doubtful(from, moment) ? PATH_SOURCE_LATE : 0u) |
                    (date_is_doubtful(node, &ask->condition) ? PATH_IS_MODIFIED : 0u) |
                    (date_is_doubtful(from, &ask->source_condition) ? PATH_SOURCE_IS_MODIFIED : 0u);
}

/* ---- conditions ---- */

enum fault { IS_MET, NOT_MET, IS_UNCHANGED, EXISTS };

static bool is_modified(const struct path_stamp *stamp, int64_t date, bool unknown_is)
{
    return stamp->modified_s > 0 ? stamp->modified_s > date : unknown_is;
}

/* A client can only send an ETag that it has received. */
static enum fault find_fault(const struct path_condition *condition, const struct path_node *node,
                             bool exists, bool unknown_is_modified)
{
    bool same = node && node->stamp->etag == condition->etag;
    bool modified = node && is_modified(node->stamp, condition->date, unknown_is_modified);

    if (!exists && (condition->kind == PATH_IF_MATCH || condition->kind == PATH_IF_MATCH_ANY))
        return NOT_MET;
    if (!node || (!exists && condition->kind < PATH_IF_MODIFIED))
        return IS_MET;
    switch (condition->kind) {
    case PATH_IF_NOTHING:
    case PATH_IFS:
        break;
    case PATH_IF_MATCH:
        return same ? IS_MET : NOT_MET;
    case PATH_IF_MATCH_ANY:
        break;
    case PATH_IF_NONE_MATCH:
        return same ? IS_UNCHANGED : IS_MET;
    case PATH_IF_NONE_MATCH_ANY:
        return EXISTS;
    case PATH_IF_MODIFIED:
        return modified ? IS_MET : IS_UNCHANGED;
    case PATH_IF_UNMODIFIED:
        return modified ? NOT_MET : IS_MET;
    }
    return IS_MET;
}

static bool finds_uncommitted(const struct path_ask *ask)
{
    return ask->op == PATH_GET_BLOCK_LIST || (ask->op == PATH_DELETE && ask->by_blob);
}

static bool creates(const struct path_ask *ask)
{
    return ask->op == PATH_CREATE_FILE || ask->op == PATH_CREATE_DIRECTORY || ask->op == PATH_PUT ||
           ask->op == PATH_PUT_BLOCK_LIST || ask->op == PATH_RENAME;
}

/* Writes through the Blob endpoint that cannot create ignore If-None-Match: *, and so does a request with the id of the
 * active lease that could create. Returns a refusal, or status 0. */
static struct path_expected check_condition(const struct run *run, const struct path_node *node)
{
    const struct path_ask *ask = run->ask;
    bool is_read = ask->op >= PATH_READ;
    bool exists = node && (!node->is_uncommitted || finds_uncommitted(ask));
    enum fault fault = find_fault(&ask->condition, node, exists, run->doubts & PATH_IS_MODIFIED);

    if (fault == IS_MET)
        return refusal(0, NULL);
    if (fault == NOT_MET)
        return refusal(412, "ConditionNotMet");
    if (fault == EXISTS && creates(ask) && ask->lease.id == 0)
        return ask->by_blob ? refusal(409, "BlobAlreadyExists")
                            : refusal_over("PathAlreadyExists", node);
    if (fault == EXISTS && (creates(ask) || (ask->by_blob && !is_read)))
        return refusal(0, NULL);
    return refusal(is_read || ask->op == PATH_FLUSH ? 304 : 412, "ConditionNotMet");
}

/* ---- leases ---- */

static enum lease_now lease_now(const struct run *run, const struct path_node *node)
{
    return model_lease_now(&node->lease, run->doubts & PATH_LATE, run->moment->from_ns,
                           run->moment->to_ns);
}

/* Returns a refusal, or status 0. */
static struct path_expected check_lease(const struct run *run, const struct path_node *node)
{
    const struct model_lease none = { .kind = LEASE_FREE };
    bool writes = run->ask->op < PATH_READ && run->ask->op != PATH_SNAPSHOT;
    const char *code;

    if (run->ask->op == PATH_LEASE || run->ask->op == PATH_SET_EXPIRY || run->ask->snapshot[0])
        return refusal(0, NULL);
    code = model_lease_use(node ? &node->lease : &none, node ? lease_now(run, node) : NOW_AVAILABLE,
                           run->ask->lease.id, writes, false);
    return code ? refusal(412, code) : refusal(0, NULL);
}

static struct path_expected check_lease_and_condition(const struct run *run,
                                                      const struct path_node *node)
{
    struct path_expected expected = check_lease(run, node);

    return expected.code ? expected : check_condition(run, node);
}

/* A lease of which less than half is left is renewed. decision: 1204 */
static void renew(struct model_lease *lease, const struct path_moment *moment)
{
    struct ending half = lease->ends, was = lease->ends;
    const uint64_t rest_ns = UINT64_C(1000000000) * PATH_LEASE_S / 2;

    if (lease->duration_s < 0)
        return;
    half.from_ns -= rest_ns;
    half.to_ns -= rest_ns;
    if (!ending_is_over(&half, true, moment->from_ns, moment->to_ns))
        return;
    lease->ends = ending_after(PATH_LEASE_S, moment->from_ns, moment->to_ns);
    if (ending_is_doubtful(&half, moment->from_ns, moment->to_ns))
        ending_widen(&lease->ends, &was);
}

const char *path_act_on_lease(struct model_lease *lease, const struct path_ask *ask, bool late,
                              const struct path_moment *moment)
{
    bool ends = ask->op == PATH_FLUSH || ask->flushes;
    enum path_lease action = ask->lease_action;
    const char *code = NULL;

    if (ends)
        model_lease_forget(lease, model_lease_now(lease, late, moment->from_ns, moment->to_ns));
    if ((action == PATH_RENEWS || action == PATH_RELEASES) &&
        model_lease_now(lease, late, moment->from_ns, moment->to_ns) != NOW_LEASED)
        return "LeaseNotPresentWithBlobOperation";
    if (action == PATH_ACQUIRES || action == PATH_ACQUIRES_AND_RELEASES)
        code = model_lease_act(lease, model_lease_now(lease, late, moment->from_ns, moment->to_ns),
                               &ask->lease, moment->from_ns, moment->to_ns);
    if (action == PATH_RENEWS)
        renew(lease, moment);
    if (!code && ends && (action == PATH_RELEASES || action == PATH_ACQUIRES_AND_RELEASES))
        memset(lease, 0, sizeof *lease);
    return code;
}

/* Returns a refusal by the lease action, or status 0. */
static struct path_expected check_lease_action(const struct run *run, const struct path_node *node)
{
    struct model_lease lease = node->lease;
    const char *code = path_act_on_lease(&lease, run->ask, run->doubts & PATH_LATE, run->moment);

    if (!code)
        return refusal(0, NULL);
    return refusal(strcmp(code, "LeaseNotPresentWithBlobOperation") == 0 ? 412 : 409, code);
}

static struct path_expected expect_lease(const struct run *run, const struct path_node *node)
{
    const struct path_ask *ask = run->ask;
    struct model_lease lease = node->lease;
    const char *code = model_lease_act(&lease, lease_now(run, node), &ask->lease,
                                       run->moment->from_ns, run->moment->to_ns);

    return code ? refusal(409, code) : success(model_lease_status(ask->lease.act), ask->place);
}

/* ---- legal holds ---- */

static bool is_held(const struct run *run, unsigned place)
{
    return !(run->doubts & PATH_NOT_HELD) && run->state->is_held[path_filesystem_of(place)];
}

/* Returns a refusal to change a file at the place, or status 0. */
static struct path_expected check_hold(const struct run *run, unsigned place,
                                       const struct path_node *node)
{
    return node && !node->is_uncommitted && !node->is_directory && is_held(run, place)
               ? refusal(409, "BlobImmutableDueToLegalHold")
               : refusal(0, NULL);
}

/* Nothing leaves a filesystem that is held, and nothing in it is replaced. decision: 1465 */
static struct path_expected check_holds_of_rename(const struct run *run, unsigned to)
{
    if (is_held(run, run->ask->from))
        return refusal(409, "BlobImmutableDueToLegalHold");
    return check_hold(run, to, run->state->nodes[to]);
}

/* ---- operations ---- */

/* Returns true if a directory of the path is a file. */
static bool is_below_file(const struct path_state *state, unsigned place)
{
    while (!path_is_root(place)) {
        place = path_parent(place);
        if (state->nodes[place] ? !state->nodes[place]->is_directory : state->ghosts[place])
            return true;
    }
    return false;
}

/* Data that was appended but not flushed excludes blocks. */
static struct path_expected beside_appended(const struct path_node *node,
                                            struct path_expected expected)
{
    if (node->is_doubtful)
        expected.or_code = "BlobOperationNotSupported";
    else if (node->staged_count > 0)
        return refusal(409, "BlobOperationNotSupported");
    return expected;
}

static struct path_expected expect_block_list(const struct path_ask *ask,
                                              const struct path_node *node)
{
    const struct path_expected expected = success(201, ask->place);

    for (unsigned i = 0; i < ask->list_count; i++)
        if (!node || !path_has_block(node, ask->list[i].source, ask->list[i].block))
            return refusal(400, "InvalidBlockList");
    return node ? beside_appended(node, expected) : expected;
}

static struct path_expected expect_create(const struct run *run)
{
    const struct path_ask *ask = run->ask;
    const struct path_node *node = run->state->nodes[ask->place];
    struct path_expected expected = check_lease_and_condition(run, node);

    if (!expected.code)
        expected = check_hold(run, ask->place, node);
    if (expected.code)
        return expected;
    if (is_below_file(run->state, ask->place))
        return refusal(409, "PathConflict");
    if (node && node->is_directory != (ask->op == PATH_CREATE_DIRECTORY))
        return refusal(409, "PathConflict");
    return ask->op == PATH_PUT_BLOCK_LIST ? expect_block_list(ask, node) : success(201, ask->place);
}

static struct path_expected expect_put_block(const struct run *run)
{
    const struct path_ask *ask = run->ask;
    const struct path_node *node = run->state->nodes[ask->place];
    struct path_expected expected = check_lease(run, node);

    if (!expected.code)
        expected = check_hold(run, ask->place, node);
    if (expected.code)
        return expected;
    if (is_below_file(run->state, ask->place) || (node && node->is_directory))
        return refusal(409, "PathConflict");
    expected = success(201, ask->place);
    if (!node)
        return expected;
    expected = beside_appended(node, expected);
    if (!expected.code && node->blocks[ask->content.block - 1].block == 0 &&
        path_count_blocks(node) >= limit_of(LIMIT_STAGED, PATH_STAGED_MAX))
        return refusal(409, "BlockCountExceedsLimit");
    return expected;
}

/* Returns whether the staged bytes reach from the end of the file to the position, without a gap. */
static bool can_flush(const struct path_node *node, uint32_t position)
{
    uint32_t length = path_length(node);

    for (unsigned i = 0; i < node->staged_count && length < position; i++) {
        if (node->staged[i].position < path_length(node))
            continue;
        if (node->staged[i].position != length)
            return false;
        length += node->staged[i].content.length;
    }
    return length == position;
}

static bool is_appendable(const struct path_node *node)
{
    return !node->is_put || node->part_count == 0;
}

static bool is_staged_at(const struct path_node *node, uint32_t position)
{
    unsigned i = 0;

    while (i < node->staged_count && node->staged[i].position != position)
        i++;
    return i < node->staged_count;
}

/* A flush finds the staged bytes before it acts on the lease, an append that flushes after that. */
static struct path_expected expect_update(const struct run *run, const struct path_node *node)
{
    const struct path_ask *ask = run->ask;
    bool flushes = ask->op == PATH_FLUSH || ask->flushes;
    struct path_expected expected = check_lease_action(run, node);

    if (node->is_directory)
        return refusal(409, "PathConflict");
    if (!is_appendable(node) || path_count_blocks(node) > 0)
        return refusal(409,
                       ask->op == PATH_FLUSH ? "InvalidFlushOperation" : "InvalidAppendOperation");
    if (flushes && !node->is_doubtful && !can_flush(node, ask->position) &&
        (ask->op == PATH_FLUSH || !expected.code))
        return refusal(400, "InvalidFlushPosition");
    if (expected.code)
        return expected;
    if (!flushes && !node->is_doubtful && !is_staged_at(node, ask->position) &&
        node->staged_count >= limit_of(LIMIT_STAGED, PATH_STAGED_MAX))
        return refusal(409, "BlockCountExceedsLimit");
    expected = success(ask->op == PATH_FLUSH ? 200 : 202, ask->place);
    if (node->is_doubtful)
        expected.or_code = flushes ? "InvalidFlushPosition" : "BlockCountExceedsLimit";
    return expected;
}

/* Returns a refusal because of the source of a rename, or status 0. */
static struct path_expected check_source(const struct run *run, const struct path_node *from)
{
    const struct path_ask *ask = run->ask;
    const struct path_moment *moment = run->moment;
    enum lease_now now = model_lease_now(&from->lease, run->doubts & PATH_SOURCE_LATE,
                                         moment->from_ns, moment->to_ns);
    const char *code = model_lease_use(&from->lease, now, ask->source_lease, true, false);

    if (run->doubts & PATH_MORE_REFUSED)
        return refusal(403, "AuthorizationPermissionMismatch");
    if (code)
        return refusal(412, code);
    if (find_fault(&ask->source_condition, from, true, run->doubts & PATH_SOURCE_IS_MODIFIED))
        return refusal(412, "SourceConditionNotMet");
    return refusal(0, NULL);
}

static struct path_expected expect_rename(const struct run *run)
{
    const struct path_ask *ask = run->ask;
    const struct path_state *state = run->state;
    const struct path_node *from = state->nodes[ask->from], *over;
    unsigned to = path_destination(ask, state);
    struct path_expected expected;

    if (!from || from->is_uncommitted)
        return refusal(404, "SourcePathNotFound");
    over = state->nodes[to];
    expected = check_lease_and_condition(run, over);
    if (!expected.code)
        expected = check_holds_of_rename(run, to);
    if (!expected.code)
        expected = check_source(run, from);
    if (expected.code)
        return expected;
    if (is_below_file(state, to))
        return refusal(409, "PathConflict");
    if (!state->nodes[path_parent(to)])
        return refusal(404, "RenameDestinationParentPathNotFound");
    if (to == ask->from)
        return refusal(409, "InvalidRenameSourcePath");
    if (over && over->is_directory != from->is_directory)
        return refusal(409, "InvalidSourceOrDestinationResourceType");
    if (over && over->snapshot_count > 0)
        return refusal(409, "SnapshotsPresent");
    if (path_is_below(to, ask->from))
        return refusal(409, "InvalidRenameSourcePath");
    if (over && path_has_entries(state, to))
        return refusal(409, "DirectoryNotEmpty");
    return success(201, to);
}

/* The snapshots of a file that has expired exist until it is collected. */
static const struct path_node *find_named(const struct run *run)
{
    bool is_left = run->ask->snapshot[0] && !(run->doubts & PATH_COLLECTED);

    return (is_left ? run->raw : run->state)->nodes[run->ask->place];
}

/* A Path Delete ignores expired files. decision: 1292 */
static bool has_entries_for_delete(const struct run *run)
{
    struct path_state state = *run->state;

    if (!run->ask->by_blob)
        memset(state.ghosts, 0, sizeof state.ghosts);
    return path_has_entries(&state, run->ask->place);
}

static struct path_expected expect_delete(const struct run *run)
{
    const struct path_ask *ask = run->ask;
    const struct path_node *node = find_named(run);

    const struct path_expected held = check_hold(run, ask->place, node);
    bool is_full = node->is_directory && has_entries_for_delete(run);

    if (held.code)
        return held;
    if (node->is_directory && ask->with_snapshots)
        return refusal(400, "OperationNotSupportedOnDirectory");
    if (node->is_directory && (run->doubts & PATH_MORE_REFUSED))
        return refusal(403, "AuthorizationPermissionMismatch");
    if (is_full && !ask->by_blob && is_held(run, ask->place))
        return refusal(409, "BlobImmutableDueToLegalHold");
    if (is_full && !ask->is_recursive)
        return refusal(409, ask->by_blob ? "DirectoryIsNotEmpty" : "DirectoryNotEmpty");
    if (node->snapshot_count > 0 && !ask->with_snapshots && !ask->snapshot[0])
        return refusal(409, "SnapshotsPresent");
    return success(ask->by_blob ? 202 : 200, ask->place);
}

static struct path_expected expect_set_acl(const struct path_ask *ask, const struct path_node *node)
{
    struct path_acl acl = node->acl;

    if (!path_change_acl(&acl, ask, node->is_directory))
        return refusal(400, "InvaldAccessControlList");
    if (node->acl_is_unknown)
        return either_way(200, ask->place);
    if (path_acls_are_equal(&acl, &node->acl) && (!path_is_root(ask->place) || node->has_record))
        return (struct path_expected){ .status = 200, .place = ask->place };
    return success(200, ask->place);
}

static struct path_expected expect_set_expiry(const struct run *run, const struct path_node *node)
{
    const struct path_ask *ask = run->ask;
    uint64_t now = path_now(run->moment, run->doubts);
    uint64_t at = INSTANT_UNIX_EPOCH + ask->expiry_time * TICKS_PER_SECOND;

    if (node->is_directory)
        return refusal(400, "OperationNotSupportedOnDirectory");
    if (ask->expiry == PATH_EXPIRES_AT && at <= now)
        return refusal(400, "InvalidHeaderValue");
    if (ask->expiry == PATH_EXPIRES_AT ? node->expiry == at
                                       : ask->expiry == PATH_NEVER_EXPIRES && node->expiry == 0)
        return (struct path_expected){ .status = 200, .place = ask->place };
    return success(200, ask->place);
}

static struct path_expected expect_of_node(const struct run *run)
{
    const struct path_ask *ask = run->ask;
    const struct path_node *node = find_named(run);
    const struct path_node *named = path_named(ask, node);
    struct path_expected expected;

    if (!named && !(node && finds_uncommitted(ask) && !ask->snapshot[0]))
        return refusal(404, ask->by_blob ? "BlobNotFound" : "PathNotFound");
    expected = check_lease_and_condition(run, named ? named : node);
    if (!expected.code && (ask->op == PATH_APPEND || ask->op == PATH_FLUSH ||
                           ask->op == PATH_SET_PROPERTIES || ask->op == PATH_SNAPSHOT))
        expected = check_hold(run, ask->place, node);
    if (expected.code)
        return expected;
    switch ((int)ask->op) {
    case PATH_APPEND:
    case PATH_FLUSH:
        return expect_update(run, node);
    case PATH_SET_ACL:
        return expect_set_acl(ask, node);
    case PATH_LEASE:
        return expect_lease(run, node);
    case PATH_SET_EXPIRY:
        return expect_set_expiry(run, node);
    case PATH_SNAPSHOT:
        return node->is_directory ? refusal(400, "OperationNotSupportedOnDirectory")
                                  : success(201, ask->place);
    case PATH_DELETE:
        return expect_delete(run);
    default:
        return ask->op >= PATH_READ ? (struct path_expected){ .status = 200, .place = ask->place }
                                    : success(200, ask->place);
    }
}

struct path_expected path_expect(const struct path_ask *ask, uint64_t commit,
                                 const struct path_moment *moment, unsigned doubts)
{
    const struct path_state *raw = path_state_at(commit);
    struct path_state effective, *state = &effective;
    const struct run run = { ask, state, raw, moment, doubts };
    bool exists;

    path_effective(raw, moment, doubts, state);
    if (ask->op == PATH_SET_SERVICE)
        return success(202, 0);
    if (ask->op == PATH_GET_SERVICE)
        return (struct path_expected){ .status = 200 };
    if (doubts & PATH_REFUSED)
        return refusal(403, "AuthorizationPermissionMismatch");
    exists = state->exists[path_filesystem_of(ask->place)];
    if (ask->op == PATH_CREATE_FILESYSTEM)
        return exists ? refusal(409, "FilesystemAlreadyExists") : success(201, ask->place);
    if (ask->op == PATH_DELETE_FILESYSTEM && exists)
        return is_held(&run, ask->place) ? refusal(409, "ContainerHasLegalHold")
                                         : success(202, ask->place);
    if (!exists)
        return refusal(404, ask->by_blob ? "ContainerNotFound" : "FilesystemNotFound");
    switch ((int)ask->op) {
    case PATH_HOLD:
        return success(200, ask->place);
    case PATH_GET_FILESYSTEM:
        return (struct path_expected){ .status = 200 };
    case PATH_CREATE_FILE:
    case PATH_CREATE_DIRECTORY:
    case PATH_PUT:
    case PATH_PUT_BLOCK_LIST:
        return expect_create(&run);
    case PATH_PUT_BLOCK:
        return expect_put_block(&run);
    case PATH_RENAME:
        return expect_rename(&run);
    case PATH_UNDELETE:
        return path_expect_undelete(ask, state, path_now(moment, doubts));
    case PATH_LIST_SNAPSHOTS:
    case PATH_LIST_DELETED:
        return (struct path_expected){ .status = 200 };
    case PATH_LIST:
        if (!path_is_root(ask->place) &&
            (!state->nodes[ask->place] || state->nodes[ask->place]->is_uncommitted))
            return refusal(404, "PathNotFound");
        return (struct path_expected){ .status = 200 };
    default:
        return expect_of_node(&run);
    }
}
