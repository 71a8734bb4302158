/* See create_blob.h. rest: Put-Blob, Put-Block-List; semantics 5 */
#include "blob/access_time.h"
#include "blob/create_blob.h"

#include "blob/access_control.h"
#include "blob/contents.h"
#include "blob/encryption.h"
#include "blob/immutability.h"
#include "service/blob_key.h"
#include "blob/path_operations.h"
#include "blob/tier.h"
#include "blob/keep_blob.h"

/* Returns true if the new blob keeps the tier of the old one, or of a soft-deleted one of that
 * name. rest: "Soft delete for blobs" */
static bool has_tier_of(const struct decision *d, const struct blob_state *state,
                        const struct blob *was, enum blob_type type)
{
    if (state->is_kept)
        return state->blob.type == type && state->blob.tier != TIER_ARCHIVE &&
               state->blob.deletion.expires > d->now;
    return was && was->type == type;
}

enum error create_blob_begin(struct decision *d, enum blob_type type,
                             const struct create_blob *given, struct blob *ret_blob)
{
    const struct blob_state *state = blob_state(d);
    const struct blob *was = d->subject.exists ? &state->blob : NULL;
    struct blob blob = {
        .type = type,
        .nothing_staged = true, /* true once it is committed */
        .without_snapshots = (!state->found && !state->is_kept) || state->blob.without_snapshots,
        .has_deleted = (state->found || state->is_kept) && state->blob.has_deleted,
        .created = d->now,
        .etag = etag_after(d->subject.etag, d->now),
        .modified = d->now,
        .http = given->http,
        .encryption = encryption_of_request(d),
        .tags = given->tags,
        .tier = given->tier,
        .accessed = access_time_of_new(d, type),
    };
    enum error e = was ? blob_refuse_archived(was) : OK;

    if (e)
        return e;
    /* docs: "you cannot change the default access tier for that blob"; decision: 1462 */
    if (given->tier != TIER_NONE && blob.encryption.has_key)
        return E_BlobUsesCustomerSpecifiedEncryption;
    e = access_control_give(d, NULL, &blob);
    if (!e)
        e = immutability_give(d, &given->immutability, &blob);
    if (e)
        return e;
    encryption_set_metadata(d, &blob, given->metadata);
    if (was) {
        blob.lease = was->lease;
        lease_forget_if_ended(&blob.lease, d->now);
        /* Overwriting preserves the creation time in a flat container only, as in the real
         * service. decision: 12, 1273 */
        if (was->type == type && !state->node)
            blob.created = was->created;
    }
    d->subject.etag = blob.etag;
    d->subject.modified = blob.modified;
    if (given->tier != TIER_NONE) {
        blob.tier_changed = d->now;
    } else if (has_tier_of(d, state, was, type)) {
        blob.tier = state->blob.tier;
        blob.tier_changed = state->blob.tier_changed;
    }
    *ret_blob = blob;
    return OK;
}

/* Returns true if this write completes a pending copy: nothing else may write the blob. Its id was
 * set, and its old state kept, when the copy began. */
static bool ends_copy(const struct blob_state *state)
{
    return state->found && state->blob.copy.status == COPY_PENDING;
}

static enum error plan_version(struct decision *d, const struct retention *retention,
                               struct blob *blob, struct version_change *ret_change)
{
    const struct blob *was = &blob_state(d)->blob;
    enum error e;

    if (ends_copy(blob_state(d))) {
        *ret_change = (struct version_change){ .keeps = false };
        blob->is_version = was->is_version;
        blob->newest_version = was->newest_version;
        return OK;
    }
    e = version_plan(d, retention, blob->type, ret_change);
    if (!e)
        version_give(d, ret_change, blob);
    return e;
}

/* Drops or keeps the old content. Dropping spares the blocks that the new content uses. */
static enum error replace_old(struct decision *d, struct blob *blob,
                              const struct named_blocks *blocks, const struct retention *retention,
                              const struct version_change *version)
{
    const struct named_blocks none = { .named_count = 0 };
    const struct named_blocks *made_of = blocks ? blocks : &none;
    const struct blob_deletion not_deleted = { .at = 0 };
    const struct blob_state *state = blob_state(d);
    bool was_kept = ends_copy(state) && state->blob.is_version;
    enum store_result result;

    if (version->keeps)
        return keep_replaced(d, blob, blocks, blob_version_ref(version->kept), &not_deleted);
    if (retention->expires > 0 && !was_kept && !is_place_of_copy(&state->blob))
        return keep_overwritten(d, blob, blocks, retention);
    result = contents_replace(d, &state->blob.content, &blob->content, made_of->named,
                              made_of->named_count);
    return result ? decision_fail_content(d, result) : OK;
}

enum error create_blob_commit(struct decision *d, struct blob *blob,
                              const struct named_blocks *blocks, struct bytes account)
{
    const struct blob_state *state = blob_state(d);
    struct version_change version;
    struct retention retention;
    enum store_result result = retention_find(d, account, &retention);
    enum error e;

    if (result)
        return decision_fail_store(d, result);
    e = plan_version(d, &retention, blob, &version);
    if (!e && state->is_kept)
        e = keep_undeleted(d, blob, false, account);
    else if (!e && d->subject.exists)
        e = replace_old(d, blob, blocks, &retention, &version);
    if (e)
        return e;
    if (state->found)
        result = contents_drop_staged(d, blocks);
    if (result)
        return decision_fail_content(d, result);
    blob_change(d, stored_blob(d), blob);
    return OK;
}

/* Put Blob: creates or replaces a block blob with the bytes of one request. Put Blob From URL: the
 * same with the bytes of the copy source. rest: Put-Blob, Put-Blob-From-URL */

/* Computes and stores the MD5. */
enum error put_blob_decide(struct decision *d, const struct put_blob_parameters *p,
                           struct put_blob_result *r)
{
    const struct body *body = &d->input->body;
    struct blob blob;
    enum error e;

    r->is_directory = put_blob_is_of_directory(d, p);
    if (r->is_directory) /* a default scope does not apply to it */
        return d->input->key && (d->input->key->scope.len == 0 || d->input->scope.named.ptr)
                   ? E_OperationNotSupportedOnDirectory
                   : path_create_directory(d, &p->create, NULL, &blob);
    e = create_blob_begin(d, BLOB_BLOCK, &p->create, &blob);
    if (e)
        return e;
    blob.http.has_md5 = true;
    blob.http.md5_size = sizeof body->md5;
    memcpy(blob.http.md5, body->md5, sizeof body->md5);
    blob.content = content_from_body(d->changes, blob.etag.v, body);
    e = create_blob_commit(d, &blob, NULL, d->input->account);
    r->version = blob_version_id(&blob);
    return e;
}

/* Append blobs: Put Blob that creates one, Append Block, also From URL, Append Blob Seal. */

/* Creates an empty append blob. rest: Put-Blob */
enum error create_append_blob_decide(struct decision *d,
                                     const struct create_append_blob_parameters *p,
                                     struct create_append_blob_result *r)
{
    struct blob blob;
    enum error e = create_blob_begin(d, BLOB_APPEND, &p->create, &blob);

    if (e)
        return e;
    e = create_blob_commit(d, &blob, NULL, d->input->account);
    r->version = blob_version_id(&blob);
    return e;
}

/* ---- Append Block ---- */

static enum error check_conditions(const struct append_block_parameters *p, uint64_t length,
                                   uint64_t added)
{
    if (p->has_position && p->position != length)
        return E_AppendPositionConditionNotMet;
    if (p->has_size_max && (length > p->size_max || added > p->size_max - length))
        return E_MaxBlobSizeConditionNotMet;
    return OK;
}

/* Returns InvalidBlobType, BlobIsSealed, AppendPositionConditionNotMet, MaxBlobSizeConditionNotMet,
 * BlockCountExceedsLimit. rest: Append-Block */
enum error append_block_decide(struct decision *d, const struct append_block_parameters *p,
                               struct append_block_result *r)
{
    const struct body *body = &d->input->body;
    struct blob blob = blob_state(d)->blob;
    enum error e;

    if (blob.type != BLOB_APPEND)
        return E_InvalidBlobType;
    if (blob.is_sealed)
        return E_BlobIsSealed;
    e = check_conditions(p, blob.content.length, body->length);
    if (e)
        return e;
    if (blob.committed_blocks == APPENDED_BLOCKS_MAX)
        return E_BlockCountExceedsLimit;
    e = encryption_check(d, &blob.encryption);
    if (!e)
        e = blob_begin_change(d, &blob);
    if (e)
        return e;
    r->offset = blob.content.length;
    content_append(d->changes, blob.etag.v, &blob.content, body);
    r->committed_blocks = ++blob.committed_blocks;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}

/* ---- Append Blob Seal ---- */

/* Sealing a sealed blob succeeds and changes the ETag again. rest: Append-Blob-Seal;
 * decision: 77 */
enum error seal_append_blob_decide(struct decision *d, const struct seal_append_blob_parameters *p,
                                   struct seal_append_blob_result *r)
{
    struct blob blob;
    enum error e = blob_begin_change(d, &blob);

    (void)r;
    if (blob_state(d)->blob.type != BLOB_APPEND)
        return E_InvalidBlobType;
    if (e)
        return e;
    if (p->has_position && p->position != blob.content.length)
        return E_AppendPositionConditionNotMet;
    blob.is_sealed = true;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}
