/* Copy Blob, Copy Blob From URL and Abort Copy Blob.
 *
 *            Copy Blob, bytes available at once       Abort
 *   (none) ------------------------------> SUCCESS   ABORTED
 *      \                                      ^         ^
 *       `-- Copy Blob, a large or remote --> PENDING ---+---> FAILED
 *
 * While the copy is PENDING the destination retains its old content and is read-only. With
 * versioning, the old state becomes a version when the copy starts. If the container gets a policy
 * or a legal hold in the meantime, a destination that existed before is not changed, and the copy
 * ends as FAILED or ABORTED. rest: Copy-Blob; semantics 5; decision: 1450 */
#include "blob/copy_blob.h"

#include "blob/create_blob.h"
#include "blob/container_root.h"
#include "blob/immutability.h"
#include "blob/incremental_copy.h"
#include "blob/tier.h"
#include "blob/keep_blob.h"

/* ---- the future destination ---- */

static struct copy_state copy_of(const struct copy_blob_parameters *p, enum copy_status status,
                                 instant now)
{
    bool done = status == COPY_SUCCESS;

    return (struct copy_state){
        .status = status,
        .id = p->id,
        .source = p->shown,
        .copied = done ? p->length : 0,
        .total = p->length,
        .completed = done ? now : 0,
    };
}

/* Archives the copy of an archived blob too, and starts its rehydration to the tier of the request,
 * or to Hot. The source stays archived. rest: Copy-Blob "x-ms-rehydrate-priority"; decision: 101 */
static enum error bring_back(struct decision *d, const struct copy_blob_parameters *p,
                             struct blob *target)
{
    if (p->tier == TIER_ARCHIVE)
        return E_BlobArchived;
    target->tier = TIER_ARCHIVE;
    target->tier_changed = d->now;
    blob_rehydrate(target, p->tier == TIER_NONE ? TIER_HOT : p->tier, &p->rehydration, d->now);
    return OK;
}

/* Writes the destination. */
static enum error write_target(struct decision *d, struct blob *target, struct bytes account)
{
    if (target->rehydrates_to != TIER_NONE)
        rehydrate_defer(d->changes, target);
    return create_blob_commit(d, target, NULL, account);
}

/* Takes properties from the source, and metadata and tier from the request if it has them. */
static enum error make_target(struct decision *d, const struct copy_blob_parameters *p,
                              struct blob *ret_target)
{
    const struct blob *source = &p->source_blob;
    struct create_blob given = {
        .http = source->http,
        .metadata = p->metadata.len > 0 ? p->metadata : source->metadata,
        .tags = p->copies_tags ? source->tags : p->tags,
        .tier = p->tier,
        .immutability = p->immutability,
    };
    struct blob target;
    enum error e = p->tier == TIER_NONE ? OK : tier_fits(d, p->tier, source->type, p->length);

    if (!e && p->seals_or_not && source->type != BLOB_APPEND) {
        problem_set_header(d->problem, "x-ms-seal-blob", bytes_of(NULL, 0));
        e = E_InvalidHeaderValue;
    }
    if (!e)
        e = create_blob_begin(d, source->type, &given, &target);
    if (e)
        return e;
    target.tier = p->tier; /* none: inferred again, as in the real service */
    target.tier_changed = p->tier != TIER_NONE ? d->now : 0;
    target.committed_blocks = source->committed_blocks;
    target.sequence_number = source->sequence_number;
    target.is_sealed = p->seals_or_not ? p->seals : source->is_sealed;
    if (source->tier == TIER_ARCHIVE)
        e = bring_back(d, p, &target);
    *ret_target = target;
    return e;
}

/* Requires that source and destination are of the same type. rest: Copy-Blob "Copying Properties,
 * Tags, and Metadata" */
static enum error check_type(struct decision *d, enum blob_type type)
{
    return d->subject.exists && blob_state(d)->blob.type != type ? E_InvalidBlobType : OK;
}

/* ---- the bytes ---- */

/* Creates blocks from the pieces of the body, with the lengths of the source's blocks. */
static struct content blocks_of_body(struct decision *d, uint64_t id, const struct body *body,
                                     const struct copied_bytes *bytes)
{
    struct content_block *blocks = arena_array(d->arena, bytes->block_count, sizeof *blocks);
    const struct piece *piece = body->pieces;
    uint64_t at = 0;

    for (size_t i = 0; i < bytes->block_count; i++) {
        struct content_block block = { .block_id = bytes->blocks[i].block_id,
                                       .length = bytes->blocks[i].length };

        if (body->piece_count == 0)
            block.inline_bytes = bytes_of(body->inline_bytes.ptr + at, block.length);
        block.pieces = piece;
        for (uint64_t left = body->piece_count > 0 ? block.length : 0; left > 0; piece++) {
            left -= piece->length;
            block.piece_count++;
        }
        at += block.length;
        blocks[i] = block;
    }
    return content_from_blocks(d->changes, id, blocks, bytes->block_count);
}

/* length: of a page blob; its body holds only the bytes of its ranges */
static enum store_result content_of(struct decision *d, const struct blob *target,
                                    const struct body *body, const struct copied_bytes *bytes,
                                    uint64_t length, struct content *ret_content)
{
    const uint64_t id = target->etag.v;
    struct content content = { .id = 0 };
    enum store_result result = STORE_OK;

    if (target->type == BLOB_PAGE) {
        content = content_sparse(id, length);
        result = content_write_ranges(d->before, d->changes, &content, id, body, bytes->ranges,
                                      bytes->range_count);
    } else if (target->type == BLOB_APPEND) {
        content_append(d->changes, id, &content, body);
    } else if (bytes->block_count > 0) {
        content = blocks_of_body(d, id, body, bytes);
    } else {
        content = content_from_body(d->changes, id, body);
    }
    *ret_content = content;
    return result;
}

/* Returns empty content for a blob of this type. */
static struct content empty_content(enum blob_type type, uint64_t id)
{
    return type == BLOB_PAGE ? content_sparse(id, 0) : (struct content){ .id = 0 };
}

/* ---- start of a copy ---- */

static enum error complete_at_once(struct decision *d, const struct copy_blob_parameters *p,
                                   struct blob *target, struct copy_blob_result *r)
{
    enum store_result result =
        content_of(d, target, &d->input->body, &p->bytes, p->length, &target->content);
    enum error e;

    if (result)
        return decision_fail_content(d, result);
    target->copy = copy_of(p, COPY_SUCCESS, d->now);
    r->status = COPY_SUCCESS;
    e = write_target(d, target, d->input->account);
    r->version = blob_version_id(target);
    return e;
}

/* Marks the destination as pending. It retains its content, or is created empty. */
static enum error begin_pending(struct decision *d, const struct copy_blob_parameters *p,
                                struct blob *target, struct copy_blob_result *r)
{
    const struct blob_state *state = blob_state(d);
    struct pending_copy pending = {
        .source = p->pending,
        .account = d->input->account,
        .target = *target,
    };
    struct blob blob = d->subject.exists ? state->blob : *target;
    enum error e;

    if (!d->subject.exists) {
        blob.http.has_md5 = false; /* its bytes do not exist yet */
        blob.content = empty_content(blob.type, blob.etag.v);
        if (blob.rehydrates_to != TIER_NONE)
            blob_set_tier(&blob, TIER_NONE, d->now); /* set when the copy completes */
    }
    blob.etag = target->etag;
    blob.modified = target->modified;
    blob.lease = target->lease;
    blob.nothing_staged = !state->found || state->blob.nothing_staged;
    blob.copy = copy_of(p, COPY_PENDING, d->now);
    blob.expiry = (struct blob_expiry){ .at = 0 };
    e = version_begin(d, d->input->account, &blob);
    if (!e && state->is_kept)
        e = keep_undeleted(d, &blob, false, d->input->account);
    if (e)
        return e;
    r->version = blob_version_id(&blob);
    blob_change(d, stored_blob(d), &blob);
    copy_defer(d, &pending);
    r->status = COPY_PENDING;
    return OK;
}

/* Refuses a lease that is not infinite: it could expire during the copy. rest: Copy-Blob
 * "x-ms-lease-id" */
static enum error check_lease(const struct decision *d, const struct copy_blob_parameters *p)
{
    bool locked = lease_state(&d->lease, d->now) == LEASE_LEASED;

    return p->may_take_long && locked && d->lease.duration_s != LEASE_INFINITE
               ? E_InfiniteLeaseDurationRequired
               : OK;
}

enum error copy_blob_decide(struct decision *d, const struct copy_blob_parameters *p,
                            struct copy_blob_result *r)
{
    struct blob target;
    enum error e = check_lease(d, p);

    if (!e)
        e = check_type(d, p->source_blob.type);
    if (!e)
        e = make_target(d, p, &target);
    if (!e)
        e = p->has_bytes ? complete_at_once(d, p, &target, r) : begin_pending(d, p, &target, r);
    if (e)
        return e;
    return OK;
}

/* ---- while it is pending ---- */

enum error copy_find(struct decision *d, const struct guid *id, struct pending_copy *ret_pending)
{
    struct blob_state *state = blob_state(d);
    enum store_result result = blob_read(d->before, d->arena, blob_base, &state->blob);

    if (result == STORE_NOT_FOUND)
        return E_NoPendingCopyOperation;
    if (result)
        return decision_fail_store(d, result);
    blob_keep_above(d, &state->blob);
    state->found = d->subject.exists = true;
    d->subject.etag = state->blob.etag;
    d->subject.tags = state->blob.tags;
    if (state->blob.copy.status != COPY_PENDING || !guid_equal(&state->blob.copy.id, id))
        return E_NoPendingCopyOperation;
    result = pending_copy_read(d->before, d->arena, ret_pending);
    return result ? decision_fail_content(d, result) : OK;
}

void copy_progress(struct decision *d, uint64_t copied, struct bytes description)
{
    struct blob blob = blob_state(d)->blob;

    if (blob.type != BLOB_PAGE)
        blob.copy.copied = copied;
    blob.copy.description = description;
    blob_change(d, &blob_state(d)->blob, &blob);
}

enum error copy_pages(struct decision *d, struct pending_copy *pending,
                      const struct copied_step *step)
{
    struct blob blob = blob_state(d)->blob;
    bool is_hidden = !pending->target.incremental.is_one;
    struct content content = is_hidden ? pending->target.content : blob.content;
    enum store_result result;

    if (blob.copy.copied != step->from)
        return E_ServerBusy; /* another process is making the same copy */
    if (content.id == 0)
        content = content_sparse(d->now, step->length);
    result = content_write_ranges(d->before, d->changes, &content, d->now, step->body,
                                  step->bytes->ranges, step->bytes->range_count);
    if (result)
        return decision_fail_content(d, result);
    if (is_hidden) {
        pending->target.content = content;
        pending_copy_write(d->changes, d->arena, pending);
    } else {
        blob.content = content;
    }
    blob.copy.copied = step->to;
    blob.copy.total = step->length;
    blob.copy.description = bytes_of(NULL, 0);
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}

/* Returns the error of a policy or legal hold of the container that protects the destination, or
 * OK. A blob that the copy itself has created is not protected from it: the copy began before. */
static enum error find_refusal(struct decision *d, enum error *ret_refusal)
{
    struct container_immutability protection;
    enum store_result result = container_protection_guard(d, &protection);

    *ret_refusal = OK;
    if (result)
        return decision_fail_store(d, result);
    if (!is_place_of_copy(&blob_state(d)->blob))
        *ret_refusal = container_refuses_changes(&protection);
    return OK;
}

/* Ends the copy to a protected blob, of which only the copy's status changes. */
static void end_unchanged(struct decision *d, const struct pending_copy *pending,
                          enum copy_status status, struct bytes description)
{
    struct content copied = pending->target.content;
    struct blob blob = blob_state(d)->blob;

    blob.copy.status = status;
    blob.copy.description = description;
    blob.copy.completed = d->now;
    if (copied.id != 0)
        content_newest_delete(d->changes, &copied, &d->leaves_more);
    pending_copy_delete(d->changes);
    blob_change(d, &blob_state(d)->blob, &blob);
}

enum error copy_permit(struct decision *d, const struct pending_copy *pending,
                       enum error *ret_refusal)
{
    enum error e = find_refusal(d, ret_refusal);

    if (!e && *ret_refusal)
        end_unchanged(d, pending, COPY_FAILED,
                      arena_printf(d->arena, "%d %s \"Copy failed: the destination is protected.\"",
                                   error_status(*ret_refusal), error_code(*ret_refusal)));
    return e;
}

/* Returns the future blob, with the parts of the destination's current state that it retains. */
static struct blob target_now(struct decision *d, const struct pending_copy *pending)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob target = pending->target;

    target.etag = etag_after(was->etag, d->now);
    target.modified = d->now;
    target.lease = was->lease;
    target.without_snapshots = was->without_snapshots;
    target.has_deleted = was->has_deleted;
    target.is_version = was->is_version;
    target.newest_version = was->newest_version;
    target.copy = was->copy;
    target.copy.completed = d->now;
    pending_copy_delete(d->changes);
    return target;
}

enum error copy_complete(struct decision *d, const struct pending_copy *pending,
                         const struct body *body, const struct copied_bytes *bytes)
{
    const struct copy_state *copy = &blob_state(d)->blob.copy;
    struct blob target;

    if (pending->target.type == BLOB_PAGE && copy->copied != copy->total)
        return E_ServerBusy; /* a part that was reported stored is missing */
    target = target_now(d, pending);
    target.copy.status = COPY_SUCCESS;
    target.copy.description = bytes_of(NULL, 0);
    if (target.incremental.is_one) {
        incremental_copy_complete(d, &target);
        return OK;
    }
    if (target.type != BLOB_PAGE)
        content_of(d, &target, body, bytes, 0, &target.content); /* reads nothing */
    else if (target.content.id == 0)
        target.content = empty_content(BLOB_PAGE, target.etag.v);
    target.copy.copied = target.copy.total = target.content.length;
    return write_target(d, &target, pending->account);
}

enum error copy_end(struct decision *d, const struct pending_copy *pending, enum copy_status status,
                    struct bytes description)
{
    struct blob target;
    enum error refusal, e = find_refusal(d, &refusal);

    if (e)
        return e;
    if (refusal) {
        end_unchanged(d, pending, status, description);
        return OK;
    }
    target = target_now(d, pending);
    target.copy.status = status;
    target.copy.description = description;
    if (target.incremental.is_one) {
        incremental_copy_end(d, &target);
        return OK;
    }
    target.http.has_md5 = false; /* its bytes are missing */
    target.immutability = (struct blob_immutability){ .mode = POLICY_NONE };
    target.committed_blocks = 0;
    if (target.content.id != 0)
        content_newest_delete(d->changes, &target.content, &d->leaves_more);
    target.content = empty_content(target.type, target.etag.v);
    return write_target(d, &target, pending->account);
}

/* ---- Abort Copy Blob: rest: Abort-Copy-Blob ---- */

enum error abort_copy_blob_decide(struct decision *d, const struct abort_copy_blob_parameters *p,
                                  struct abort_copy_blob_result *r)
{
    const struct copy_state *copy = &blob_state(d)->blob.copy;
    struct pending_copy pending;
    enum store_result result;

    (void)r;
    if (copy->status != COPY_PENDING)
        return E_NoPendingCopyOperation;
    if (!guid_equal(&copy->id, &p->id))
        return E_CopyIdMismatch;
    result = pending_copy_read(d->before, d->arena, &pending);
    if (result)
        return decision_fail_content(d, result);
    return copy_end(d, &pending, COPY_ABORTED, bytes_of(NULL, 0));
}
