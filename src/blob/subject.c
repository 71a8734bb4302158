/* The resource of a request to the Blob service: names, partitions, permission facts, and the state
 * of the container or blob for the generic steps. */
#include "blob/blob.h"

#include "blob/access_control.h"
#include "blob/encryption.h"
#include "blob/immutability.h"
#include "blob/namespace.h"
#include "blob/tier.h"
#include "service/names.h"
#include "service/placement.h"
#include "service/small_record.h"

/* ---- names ----
 * rest: Naming-and-Referencing-Containers--Blobs--and-Metadata; semantics 10.1 */

#define BLOB_NAME_MAX     1024
#define BLOB_SEGMENTS_MAX 254

static bool is_system_container(struct bytes name)
{
    static const char *const names[] = { "$root", "$web", "$logs", "$blobchangefeed" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_is(name, names[i]))
            return true;
    }
    return false;
}

/* Returns true for control characters that the service refuses: those of ASCII, and those of C1
 * that Windows' code page does not define. i: the start of a character. decision: 44 */
static bool is_control(struct bytes name, size_t i)
{
    static const char refused[] = "\x81\x8D\x8F\x90\x9D";
    unsigned char c = (unsigned char)name.ptr[i];

    if (c < 0x20 || c == 0x7F)
        return true;
    return c == 0xC2 && i + 1 < name.len && strchr(refused, name.ptr[i + 1]);
}

static enum error check_blob_name(struct bytes name)
{
    size_t segments = 1;

    if (!bytes_is_utf8(name))
        return E_InvalidUri;
    for (size_t i = 0; i < name.len; i++) {
        if (is_control(name, i))
            return E_InvalidUri;
        segments += name.ptr[i] == '/' && i + 1 < name.len;
    }
    if (name.len == 0 || bytes_utf16_exceed(name, BLOB_NAME_MAX))
        return E_OutOfRangeInput;
    return segments > BLOB_SEGMENTS_MAX ? E_InvalidUri : OK;
}

void blob_signed_names(const struct resource *resource, struct bytes *ret_container,
                       struct bytes *ret_blob)
{
    *ret_container = blob_resource(resource)->container;
    *ret_blob = blob_resource(resource)->blob;
}

enum error blob_check_names(const struct resource *resource)
{
    const struct blob_resource *named = blob_resource(resource);
    enum error e = OK;

    if (named->container.ptr && !is_system_container(named->container))
        e = name_check(named->container);
    if (!e && named->blob.ptr && named->base.level != LEVEL_WEBSITE)
        e = check_blob_name(named->blob);
    /* "Blobs in the root container cannot include a slash".
     * rest: Working-with-the-Root-Container */
    if (!e && bytes_is(named->container, "$root") && named->blob.len > 0 &&
        memchr(named->blob.ptr, '/', named->blob.len))
        e = E_InvalidUri;
    return e;
}

/* ---- partitions ---- */

struct guid blob_account_space(struct bytes account)
{
    return account_space("blob", account);
}

/* of: partition in which the container is missing */
static enum error fail_no_container(struct decision *d, struct read_view *of,
                                    enum store_result result)
{
    return result == STORE_NOT_FOUND ? placement_missing(d, of, E_ContainerNotFound)
                                     : decision_fail_store(d, result);
}

/* Reads the container of a call about a blob, which is in another partition. */
static enum error read_container(struct decision *d, struct partition at,
                                 struct container *ret_container)
{
    struct decision_part *owner = decision_open(d, at, NULL);
    enum store_result result = container_read(owner->before, d->arena, ret_container);

    enum error e = result ? fail_no_container(d, owner->before, result) : OK;

    decision_leave_owner(d, owner);
    return e;
}

enum error blob_locate(struct decision *d, struct partition *ret_partition)
{
    struct partition at = { .space = blob_account_space(d->input->account), .key = BYTES("") };
    struct blob_state *state = arena_alloc(d->arena, sizeof *state);
    enum error e;

    state->base.resource = d->input->resource;
    d->state = &state->base;
    if (d->level == LEVEL_CONTAINER || d->level == LEVEL_BLOB)
        at.key = blob_asked(d)->container;
    if (d->level == LEVEL_BLOB) {
        e = read_container(d, at, &state->container);
        if (!e)
            e = encryption_find_scope(d, &state->container);
        if (e)
            return e;
        at.space = state->container.space;
        at.key = blob_asked(d)->blob;
        if (state->container.hierarchical)
            at = namespace_locate(d, at.key);
    }
    *ret_partition = at;
    return OK;
}

/* ---- subjects ---- */

enum error container_subject(struct decision *d)
{
    struct container *container = &blob_state(d)->container;
    enum store_result result = container_read(d->before, d->arena, container);

    if (result)
        return fail_no_container(d, d->before, result);
    d->lease_resource = LEASE_OF_CONTAINER;
    d->lease = container->lease;
    d->subject = (struct subject){ .exists = true,
                                   .etag = container->etag,
                                   .modified = container->modified };
    return OK;
}

enum error container_subject_deleted(struct decision *d)
{
    enum error e = container_subject(d);
    enum store_result result;

    if (e != E_ContainerNotFound)
        return e;
    result = recent_deletion_find(d->before, d->arena, d->now);
    if (result)
        return fail_no_container(d, d->before, result);
    d->lease_resource = LEASE_OF_CONTAINER;
    d->lease = (struct lease){ .kind = 0 };
    d->subject = (struct subject){ .exists = false };
    return OK;
}

void blob_keep_above(struct decision *d, const struct blob *base)
{
    if (base->newest_version >= d->now)
        d->now = clock_above(base->newest_version);
}

/* Reads the base if it has that version id. */
static enum store_result read_current(struct decision *d, instant id, struct blob *ret_blob)
{
    enum store_result result = blob_read(d->before, d->arena, blob_base, ret_blob);

    return !result && blob_version_id(ret_blob) != id ? STORE_NOT_FOUND : result;
}

/* Reads the blob of a name of a hierarchical container, once namespace_find() has found it. */
static enum store_result read_node(struct decision *d, struct blob_ref ref)
{
    struct blob_state *state = blob_state(d);
    enum store_result result = STORE_NOT_FOUND;

    if (state->node->part)
        result = blob_read_kept(d->before, d->arena, ref, &state->blob);
    if (result != STORE_NOT_FOUND || !blob_is_directory(d) ||
        !tree_place_is_root(&state->node->place))
        return result;
    state->blob = namespace_new_directory(state->container.created);
    return STORE_OK;
}

/* Loads the base, snapshot or version that the request names. If the container's space was dropped
 * after blob_locate() had read the container, the blob's state is unknown, and it is located
 * again. */
static enum error load_blob(struct decision *d, struct blob_ref ref)
{
    struct blob_state *state = blob_state(d);
    enum error e = state->node ? namespace_find(d, state->node->name) : OK;
    enum store_result result;

    if (e)
        return e;
    result =
        state->node ? read_node(d, ref) : blob_read_kept(d->before, d->arena, ref, &state->blob);
    if (result == STORE_NOT_FOUND && ref.kind == BLOB_VERSION)
        result = read_current(d, ref.at, &state->blob);
    d->lease_resource = LEASE_OF_BLOB;
    d->lease = (struct lease){ .kind = 0 };
    d->subject = (struct subject){ .exists = false };
    state->found = state->is_kept = state->has_expired = false;
    if (result == STORE_NOT_FOUND)
        return read_view_is_deleted(d->before) ? DECIDE_AGAIN : OK;
    if (result)
        return decision_fail_store(d, result);
    blob_keep_above(d, &state->blob);
    state->has_expired = file_has_expired(d, &state->blob);
    if (state->has_expired)
        return OK;
    state->is_kept = state->blob.deletion.at > 0;
    state->found = !state->is_kept;
    if (state->is_kept)
        return OK;
    if (state->blob.uncommitted) {
        if (!blocks_expired(state->blob.modified, d->now))
            d->subject.modified = state->blob.modified;
        return OK;
    }
    if (state->blob.type == BLOB_APPEND && d->input->is_before_append_blobs)
        return E_FeatureVersionMismatch; /* decision: 882 */
    d->lease = state->blob.lease;
    d->subject = (struct subject){ .exists = true,
                                   .etag = state->blob.etag,
                                   .modified = state->blob.modified,
                                   .tags = state->blob.tags };
    return OK;
}

/* Refuses changes of a blob while a copy to it is pending. rest: Copy-Blob "Remarks" */
static enum error refuse_if_copying(struct decision *d)
{
    return decision_may_change(d) && d->subject.exists &&
                   blob_state(d)->blob.copy.status == COPY_PENDING
               ? E_PendingCopyOperation
               : OK;
}

enum error blob_subject_copied(struct decision *d)
{
    enum error e = load_blob(d, blob_base);

    if (e)
        return e;
    return d->subject.exists ? OK : E_BlobNotFound;
}

/* Refuses most operations on the destination of incremental copies, of which only the snapshots are
 * read. rest: Incremental-Copy-Blob "Remarks" */
static enum error refuse_if_incremental(struct decision *d)
{
    const struct blob *blob = &blob_state(d)->blob;

    return d->subject.exists && blob->incremental.is_one && blob_ref_is_base(blob->ref)
               ? E_OperationNotAllowedOnIncrementalCopyBlob
               : OK;
}

static enum error find_blob(struct decision *d)
{
    enum error e = load_blob(d, blob_asked(d)->ref);

    if (e)
        return e;
    return d->subject.exists ? refuse_if_copying(d) : E_BlobNotFound;
}

enum error blob_subject_readable(struct decision *d)
{
    const struct blob_state *state = blob_state(d);
    enum error e = find_blob(d);

    /* As recorded for snapshots. decision: 856 */
    if (e == E_BlobNotFound)
        d->problem->is_soft_deleted = state->is_kept && state->blob.ref.kind == BLOB_SNAPSHOT &&
                                      state->blob.deletion.expires > d->now;
    return e;
}

enum error blob_subject(struct decision *d)
{
    enum error e = find_blob(d);

    return e ? e : refuse_if_incremental(d);
}

enum error blob_subject_incremental(struct decision *d)
{
    enum error e = load_blob(d, blob_base);

    return e ? e : refuse_if_copying(d);
}

enum error blob_subject_optional(struct decision *d)
{
    enum error e = blob_subject_incremental(d);

    return e ? e : refuse_if_incremental(d);
}

enum error blob_subject_uncommitted(struct decision *d)
{
    const struct blob_state *state = blob_state(d);
    enum error e = load_blob(d, blob_asked(d)->ref);

    if (e)
        return e;
    if (!state->found || (state->blob.uncommitted && blocks_expired(state->blob.modified, d->now)))
        return E_BlobNotFound;
    d->subject.exists = true;
    return refuse_if_copying(d);
}

enum error blob_subject_kept(struct decision *d)
{
    const struct blob_state *state = blob_state(d);
    enum error e = load_blob(d, blob_asked(d)->ref);

    if (e)
        return e;
    if (state->is_kept && state->blob.deletion.expires > d->now)
        d->subject = (struct subject){ .exists = true,
                                       .etag = state->blob.etag,
                                       .modified = state->blob.modified,
                                       .tags = state->blob.tags };
    return d->subject.exists ? refuse_if_copying(d) : E_BlobNotFound;
}

enum error blob_subject_undeleted(struct decision *d)
{
    enum error e = load_blob(d, blob_base);

    return e ? e : refuse_if_copying(d);
}

/* ---- permission ---- */

bool container_is_of_service(struct bytes name)
{
    return bytes_is(name, "$logs") || bytes_is(name, "$blobchangefeed");
}

/* Returns true for changes that only the service may make; clients may read and delete blobs
 * there. */
static bool is_of_service_alone(const struct decision *d)
{
    return decision_may_change(d) && !d->input->by_service &&
           container_is_of_service(blob_asked(d)->container) &&
           decision_action(d) != ACTION_BLOB_DELETE;
}

/* Both facts are the container's; without a container, nothing is public. */
enum error blob_permit_facts(struct decision *d, struct permit_facts *ret_facts)
{
    const struct container *container = &blob_state(d)->container;

    if (is_of_service_alone(d))
        return E_WriteNotAllowed;
    ret_facts->access = container->public_access;
    if (decision_rests_on_policy(d) && !policies_decode(container->policies, &ret_facts->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return access_control_facts(d, ret_facts);
}

enum error blob_begin_change(struct decision *d, struct blob *ret_blob)
{
    struct blob blob = blob_state(d)->blob;
    enum error e = blob_refuse_archived(&blob);

    if (e)
        return e;
    blob.etag = d->subject.etag = etag_after(blob.etag, d->now);
    blob.modified = d->subject.modified = d->now;
    lease_forget_if_ended(&blob.lease, d->now);
    *ret_blob = blob;
    return OK;
}
