/* See immutability.h. */
#include "blob/immutability.h"

#include "blob/blob_operations.h"
#include "blob/namespace.h"
#include "blob/snapshot_changes.h"

#define UNTIL_HEADER "x-ms-immutability-policy-until-date"

/* ---- policies and holds of blobs ---- */

static enum error check_until(struct decision *d, instant until)
{
    char text[INSTANT_HTTP_SIZE];

    if (until > d->now && until - d->now <= POLICY_DAYS_MAX * TICKS_PER_DAY)
        return OK;
    instant_format_http(until, text);
    problem_set_header(d->problem, UNTIL_HEADER, arena_copy(d->arena, bytes_from_string(text)));
    return E_InvalidHeaderValue;
}

/* Requires a container whose blobs have policies and holds. decision: 1401 */
static enum error check_container(struct decision *d)
{
    return blob_state(d)->container.immutability.has_versions
               ? OK
               : decision_fail(d, E_BlobOperationNotSupported,
                               "The container does not have immutable storage with versioning.");
}

/* Rounds up to a whole second, which is what clients see. */
static instant whole_second(instant t)
{
    return (t + TICKS_PER_SECOND - 1) / TICKS_PER_SECOND * TICKS_PER_SECOND;
}

void immutability_give_default(struct decision *d, struct blob *blob)
{
    const struct container_immutability *of = &blob_state(d)->container.immutability;

    blob->immutability = (struct blob_immutability){ .mode = POLICY_NONE };
    if (!of->has_versions || of->mode == POLICY_NONE)
        return;
    blob->immutability.mode = of->mode;
    blob->immutability.until = whole_second(d->now + of->days * TICKS_PER_DAY);
}

enum error immutability_give(struct decision *d, const struct immutability_request *request,
                             struct blob *blob)
{
    enum error e = OK;

    immutability_give_default(d, blob);
    if (request->has_policy || request->has_hold)
        e = check_container(d);
    if (!e && request->has_policy)
        e = check_until(d, request->until);
    if (e)
        return e;
    if (request->has_policy) {
        blob->immutability.mode = request->mode;
        blob->immutability.until = request->until;
    }
    blob->immutability.has_hold = request->has_hold && request->hold;
    return OK;
}

/* ---- rules ---- */

bool container_has_immutability(const struct container_immutability *immutability)
{
    return immutability->has_versions || immutability->mode != POLICY_NONE ||
           immutability->holds.len > 0 || immutability->is_closed || immutability->log.len > 0;
}

static enum error refuse(bool by_hold, bool by_policy)
{
    if (by_hold)
        return E_BlobImmutableDueToLegalHold;
    return by_policy ? E_BlobImmutableDueToPolicy : OK;
}

/* Returns true if the policy of the container permits appending to the blob. */
static bool policy_appends(const struct container_immutability *of, const struct blob *blob)
{
    return of->append == APPEND_TO_ALL
               ? blob->type != BLOB_PAGE
               : of->append == APPEND_TO_APPEND_BLOBS && blob->type == BLOB_APPEND;
}

/* Returns true if the policy of the container retains the blob: from its creation, or from its last
 * change if it can be appended to. docs: immutable-container-level-worm-policies */
static bool policy_retains(const struct container_immutability *of, const struct blob *blob,
                           instant now)
{
    instant from = policy_appends(of, blob) ? blob->modified : blob->created;

    return of->mode != POLICY_NONE && from + of->days * TICKS_PER_DAY > now;
}

static enum error permit_deletion(const struct container_immutability *of, const struct blob *blob,
                                  instant now)
{
    if (of->has_versions)
        return refuse(blob->immutability.has_hold, blob->immutability.until > now);
    return refuse(of->holds.len > 0, policy_retains(of, blob, now));
}

bool container_retains(const struct container_immutability *of, const struct blob *blob,
                       instant now)
{
    return !of->has_versions && (of->holds.len > 0 || policy_retains(of, blob, now));
}

enum error container_refuses_changes(const struct container_immutability *of)
{
    return of->has_versions ? OK : refuse(of->holds.len > 0, of->mode != POLICY_NONE);
}

bool file_has_expired(struct decision *d, const struct blob *blob)
{
    return blob_has_expired(blob, d->now) &&
           !container_retains(&blob_state(d)->container.immutability, blob, d->now);
}

/* A policy that has ended permits deletion, but no other change. decision: 1403 */
static enum error permit_in_container(struct decision *d, unsigned needs, const struct blob *blob)
{
    const struct container_immutability *of = &blob_state(d)->container.immutability;
    bool has_hold = of->holds.len > 0, has_policy = of->mode != POLICY_NONE;

    if ((needs & NEEDS_NAME) && (needs & NEEDS_DESTROY)) /* a rename */
        return refuse(has_hold, has_policy);
    if (!blob || blob_is_directory(d))
        return OK;
    if (needs & (NEEDS_CREATE | NEEDS_REPLACE | NEEDS_CHANGE | NEEDS_SNAPSHOT))
        return refuse(has_hold, has_policy);
    if (needs & NEEDS_APPEND)
        return refuse(has_hold && !of->holds_append, has_policy && !policy_appends(of, blob));
    return OK;
}

/* A path enters another container like a new blob, or replaces a blob. decision: 1465 */
static enum error permit_entering(struct decision *d, const struct container_immutability *leaves,
                                  const struct blob *blob)
{
    const struct container_immutability *of = &blob_state(d)->container.immutability;

    if (leaves->is_closed)
        return E_ContainerBeingDeleted;
    if (container_protects(leaves))
        return refuse(leaves->holds.len > 0, leaves->mode != POLICY_NONE);
    if (!blob || blob_is_directory(d))
        return OK;
    return refuse(of->holds.len > 0, of->mode != POLICY_NONE);
}

enum error immutability_permit(struct decision *d, unsigned needs)
{
    const struct container_immutability *of = &blob_state(d)->container.immutability;
    const struct blob_node *node = blob_state(d)->node;
    const struct blob *blob = d->subject.exists ? stored_blob(d) : NULL;

    if (of->is_closed && (needs & (NEEDS_CREATE | NEEDS_REPLACE | NEEDS_NAME)))
        return E_ContainerBeingDeleted;
    if (blob && blob->uncommitted)
        blob = NULL;
    if (node && node->leaves)
        return permit_entering(d, node->leaves, blob);
    if (blob && (needs & NEEDS_DESTROY) && !(needs & NEEDS_NAME))
        return blob_is_directory(d) ? OK : permit_deletion(of, blob, d->now);
    if (container_protects(of))
        return permit_in_container(d, needs, blob);
    if (!of->has_versions || !blob || !(needs & (NEEDS_CHANGE | NEEDS_APPEND)))
        return OK;
    return refuse(blob->immutability.has_hold, blob->immutability.mode != POLICY_NONE);
}

/* Search for a protected snapshot. */
struct protected_snapshot {
    const struct container_immutability *of;
    instant now;
    enum error *found;
};

static bool is_protected(const struct blob *snapshot, const void *context)
{
    const struct protected_snapshot *search = context;

    if (snapshot->deletion.at == 0 && snapshot->ref.kind == BLOB_SNAPSHOT)
        *search->found = permit_deletion(search->of, snapshot, search->now);
    return *search->found != OK;
}

enum error immutability_permit_snapshots(struct decision *d)
{
    const struct container_immutability *of = &blob_state(d)->container.immutability;
    struct snapshot_marks marks;
    bool has_found = false;
    enum error e = OK;
    const struct protected_snapshot search = { of, d->now, &e };
    enum store_result result;

    if (blob_state(d)->blob.without_snapshots || !(of->has_versions || container_protects(of)))
        return OK;
    result = snapshot_marks_read(d->before, d->arena, &marks);
    if (!result)
        result = snapshots_find(d, &marks, is_protected, &search, &has_found);
    return result ? decision_fail_store(d, result) : e;
}

/* ---- Set and Delete Blob Immutability Policy, Set Blob Legal Hold ---- */

/* A locked policy is only extended. decision: 1402 */
static enum error check_locked(const struct blob_immutability *was,
                               const struct set_blob_immutability_policy_parameters *p)
{
    bool is_weaker = (p->has_mode && p->mode != POLICY_LOCKED) || p->until < was->until;

    return was->mode == POLICY_LOCKED && is_weaker ? E_BlobImmutableDueToPolicy : OK;
}

/* rest: Set-Blob-Immutability-Policy */
enum error set_blob_immutability_policy_decide(
    struct decision *d, const struct set_blob_immutability_policy_parameters *p,
    struct set_blob_immutability_policy_result *r)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob blob = *was;
    enum error e = check_container(d);

    if (!e)
        e = check_until(d, p->until);
    if (!e)
        e = check_locked(&was->immutability, p);
    if (e)
        return e;
    blob.immutability.until = p->until;
    if (p->has_mode)
        blob.immutability.mode = p->mode;
    else if (was->immutability.mode == POLICY_NONE)
        blob.immutability.mode = POLICY_UNLOCKED;
    blob_change(d, was, &blob);
    r->immutability = blob.immutability;
    return OK;
}

/* rest: Delete-Blob-Immutability-Policy */
enum error delete_blob_immutability_policy_decide(
    struct decision *d, const struct delete_blob_immutability_policy_parameters *p,
    struct delete_blob_immutability_policy_result *r)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob blob = *was;
    enum error e = check_container(d);

    (void)p;
    (void)r;
    if (!e && was->immutability.mode == POLICY_LOCKED)
        e = E_ImmutabilityPolicyDeleteOnLockedPolicy;
    if (e)
        return e;
    blob.immutability.mode = POLICY_NONE;
    blob.immutability.until = 0;
    blob_change(d, was, &blob);
    return OK;
}

/* rest: Set-Blob-Legal-Hold */
enum error set_blob_legal_hold_decide(struct decision *d,
                                      const struct set_blob_legal_hold_parameters *p,
                                      struct set_blob_legal_hold_result *r)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob blob = *was;
    enum error e = check_container(d);

    (void)r;
    if (e)
        return e;
    blob.immutability.has_hold = p->hold;
    blob_change(d, was, &blob);
    return OK;
}
