/* Appending to a file: an append stages bytes at a position; no reader sees them yet. A flush
 * extends the file by contiguous staged bytes in one step. Staged bytes are stored and expire like
 * the blocks of Put Block (blob/uncommitted.h), but Get Block List does not show them. A flush adds
 * them to the content without rewriting it, so its cost depends only on the flushed bytes, and a
 * file may be flushed any number of times. rest: Path-Update; decisions: 1202, 1204 */
#include "dfs/path_operations.h"

#include "base/endian.h"
#include "blob/contents.h"
#include "blob/encryption.h"
#include "blob/tier.h"
#include "blob/uncommitted.h"

/* More staged bodies than this are read by a pool thread. */
#define LONG_LIST     1000u
#define POSITION_SIZE 8

/* ---- leases ---- */

/* Returns true if less than half of the lease's duration is left. A lease acquired just before is
 * not renewed (recorded). decision: 1204 */
static bool needs_renewal(const struct lease *lease, instant now)
{
    uint64_t duration = (uint32_t)lease->duration_s;

    return lease->duration_s != LEASE_INFINITE &&
           lease->ends < now + duration * TICKS_PER_SECOND / 2;
}

static enum error perform(struct decision *d, struct lease *lease, enum lease_action action,
                          const struct lease_request *acquire)
{
    struct lease_request request = *acquire;
    struct lease_result result;

    request.action = action;
    if (action != LEASE_ACQUIRE)
        request.id = &lease->id;
    return lease_perform(LEASE_OF_BLOB, lease, &request, d->now, &result);
}

/* Applies the lease action. ends: the request flushes, so it may release the lease */
static enum error apply_lease(struct decision *d, enum path_lease action, bool ends,
                              const struct lease_request *acquire, struct lease *lease,
                              bool *ret_renewed)
{
    enum error e = OK;

    if ((action == PATH_LEASE_RELEASE || action == PATH_LEASE_RENEW) &&
        lease_state(lease, d->now) != LEASE_LEASED)
        return E_LeaseNotPresentWithBlobOperation;
    if (action == PATH_LEASE_ACQUIRE || action == PATH_LEASE_ACQUIRE_RELEASE)
        e = perform(d, lease, LEASE_ACQUIRE, acquire);
    if (!e && action == PATH_LEASE_RENEW && needs_renewal(lease, d->now)) {
        e = perform(d, lease, LEASE_RENEW, acquire);
        *ret_renewed = true;
    }
    if (!e && ends && (action == PATH_LEASE_RELEASE || action == PATH_LEASE_ACQUIRE_RELEASE))
        e = perform(d, lease, LEASE_RELEASE, acquire);
    return e;
}

/* ---- staged bytes ---- */

/* Refuses blobs that this endpoint cannot append to. refused: the code for them */
static enum error check_appendable(const struct blob *blob, enum error refused)
{
    bool is_other = blob->content.length > 0 && !blob->content.is_appended;

    if (path_is_directory(blob))
        return E_PathConflict;
    if (blob->type != BLOB_BLOCK || is_other)
        return refused;
    return blob_refuse_archived(blob);
}

/* Reads the totals. Fails with `refused` if the uncommitted blocks are those of Put Block. */
static enum error read_totals(struct decision *d, enum error refused, struct uncommitted *ret_total)
{
    enum store_result result = contents_read_staged(d, ret_total);

    if (result)
        return decision_fail_content(d, result);
    return ret_total->count > 0 && ret_total->id_length != UNCOMMITTED_AT_POSITIONS ? refused : OK;
}

/* Returns the staged bodies in order of their positions. */
static enum error read_staged(struct decision *d, const struct uncommitted *total,
                              struct named_blocks *ret_blocks)
{
    struct content_block *blocks = NULL;
    enum store_result result = STORE_OK;

    *ret_blocks = (struct named_blocks){ .staged_count = 0 };
    if (total->count > LONG_LIST && !d->access.may_block)
        result = STORE_WAIT;
    else if (total->count > 0)
        result = uncommitted_list(d->before, d->arena, total, &blocks, &ret_blocks->staged_count);
    if (result)
        return decision_fail_content(d, result);
    ret_blocks->staged = blocks;
    return OK;
}

/* Finds the staged bodies that extend a file of `length` bytes to `end`, without gaps or overlaps.
 * Ignores bodies at positions that the file already has. */
static enum error choose(struct named_blocks *blocks, uint64_t length, uint64_t end)
{
    size_t first = 0;

    while (first < blocks->staged_count && be64_get(blocks->staged[first].block_id.ptr) < length)
        first++;
    blocks->named = blocks->staged + first;
    blocks->named_count = 0;
    for (size_t i = first; i < blocks->staged_count && length < end; i++) {
        if (be64_get(blocks->staged[i].block_id.ptr) != length)
            return E_InvalidFlushPosition;
        length += blocks->staged[i].length;
        blocks->named_count++;
    }
    return length == end ? OK : E_InvalidFlushPosition;
}

/* Deletes the flushed bodies and, unless keeps_rest, those after them. */
static enum error drop(struct decision *d, struct uncommitted *total,
                       const struct named_blocks *blocks, bool keeps_rest, bool *ret_nothing_left)
{
    enum store_result result = STORE_OK;
    size_t after = (size_t)(blocks->named - blocks->staged) + blocks->named_count;

    *ret_nothing_left = true;
    if (total->count == 0)
        return OK;
    if (keeps_rest && after < blocks->staged_count) {
        *ret_nothing_left = false;
        for (const struct content_block *block = blocks->staged; block < blocks->named && !result;
             block++)
            result = content_run_delete(d->before, d->changes, block->run);
        if (after > 0)
            uncommitted_take(d->changes, d->arena, total, blocks->staged, after);
    } else {
        result = uncommitted_drop(d->before, d->changes, d->arena, total, blocks, &d->leaves_more);
    }
    return result ? decision_fail_content(d, result) : OK;
}

/* ---- append ---- */

static enum error stage(struct decision *d, uint64_t position, struct uncommitted *total)
{
    char id[POSITION_SIZE];

    be64_put(id, position);
    return uncommitted_stage(d, total, bytes_of(id, sizeof id), UNCOMMITTED_AT_POSITIONS);
}

/* Appends the bodies staged before this one, then this one. */
static enum error append_and_flush(struct decision *d, const struct append_data_parameters *p,
                                   struct uncommitted *total, struct blob *blob)
{
    const struct body *body = &d->input->body;
    struct named_blocks blocks;
    enum error e = read_staged(d, total, &blocks);

    if (!e)
        e = choose(&blocks, blob->content.length, p->position);
    if (e)
        return e;
    content_append_blocks(d->changes, blob->etag.v, &blob->content, blocks.named,
                          blocks.named_count);
    content_append(d->changes, blob->etag.v, &blob->content, body);
    blob->http.has_md5 = false;
    return drop(d, total, &blocks, false, &blob->nothing_staged);
}

/* rest: Path-Update "append" */
enum error append_data_decide(struct decision *d, const struct append_data_parameters *p,
                              struct append_data_result *r)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob blob = *was;
    struct uncommitted total;
    enum error e = check_appendable(was, E_InvalidAppendOperation);

    if (!e)
        e = encryption_check(d, &was->encryption);
    if (!e)
        e = read_totals(d, E_InvalidAppendOperation, &total);
    if (!e && p->flushes)
        e = blob_begin_change(d, &blob);
    if (!e)
        e = apply_lease(d, p->lease, p->flushes, &p->acquire, &blob.lease, &r->is_renewed);
    if (!e && p->flushes)
        e = append_and_flush(d, p, &total, &blob);
    else if (!e)
        e = stage(d, p->position, &total);
    if (e)
        return decision_take_back(d, e);
    if (!p->flushes)
        blob.nothing_staged = false;
    if (p->flushes || was->nothing_staged || p->lease != PATH_LEASE_NONE)
        blob_change(d, was, &blob);
    if (!p->flushes)
        d->subject.etag.v = 0; /* the response has none */
    return OK;
}

/* ---- flush ---- */

/* rest: Path-Update "flush" */
enum error flush_data_decide(struct decision *d, const struct flush_data_parameters *p,
                             struct flush_data_result *r)
{
    const struct blob *was = &blob_state(d)->blob;
    struct named_blocks blocks;
    struct uncommitted total;
    struct blob blob;
    enum error e = check_appendable(was, E_InvalidFlushOperation);

    if (!e)
        e = encryption_check(d, &was->encryption);
    if (!e)
        e = read_totals(d, E_InvalidFlushOperation, &total);
    if (!e)
        e = read_staged(d, &total, &blocks);
    if (!e)
        e = choose(&blocks, was->content.length, p->position);
    if (!e)
        e = blob_begin_change(d, &blob);
    if (!e)
        e = apply_lease(d, p->lease, true, &p->acquire, &blob.lease, &r->is_renewed);
    if (!e)
        e = drop(d, &total, &blocks, p->keeps_rest, &blob.nothing_staged);
    if (e)
        return decision_take_back(d, e);
    if (blocks.named_count > 0)
        blob.http.has_md5 = false; /* the old one no longer matches */
    content_append_blocks(d->changes, blob.etag.v, &blob.content, blocks.named, blocks.named_count);
    path_take_properties(&blob.http, &p->http);
    blob.copy = (struct copy_state){ .status = COPY_NONE };
    blob_change(d, was, &blob);
    return OK;
}
