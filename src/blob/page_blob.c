/* Page blobs: Put Blob, which creates one, and Put Page, which updates or clears pages. Their other
 * operations are in blob_operations.c (size, sequence number) and page_blob.c. */
#include "blob/create_blob.h"
#include "blob/encryption.h"
#include "blob/page_blob_operations.h"
#include "blob/tier.h"

/* Creates a page blob of zeros, without storing any bytes. rest: Put-Blob */
enum error create_page_blob_decide(struct decision *d, const struct create_page_blob_parameters *p,
                                   struct create_page_blob_result *r)
{
    enum access_tier tier = p->create.tier;
    struct blob blob;
    enum error e = create_blob_begin(d, BLOB_PAGE, &p->create, &blob);

    if (!e && tier != TIER_NONE)
        e = tier_fits(d, tier, BLOB_PAGE, p->length);
    if (e)
        return e;
    blob.content = content_sparse(blob.etag.v, p->length);
    blob.sequence_number = p->sequence_number;
    e = create_blob_commit(d, &blob, NULL, d->input->account);
    r->version = blob_version_id(&blob);
    return e;
}

/* ---- Put Page ---- */

/* Returns true if all given conditions hold. rest: Put-Page "x-ms-if-sequence-number-le" */
static bool sequence_conditions_hold(const struct sequence_conditions *given, uint64_t number)
{
    return !(given->has_le && number > given->le) && !(given->has_lt && number >= given->lt) &&
           !(given->has_eq && number != given->eq);
}

/* The common start of both operations.
 *
 * Returns InvalidBlobType, InvalidPageRange, SequenceNumberConditionNotMet. */
static enum error begin_change_of_pages(struct decision *d, const struct page_range *range,
                                        const struct sequence_conditions *conditions,
                                        struct blob *ret_blob)
{
    const struct blob *blob = &blob_state(d)->blob;
    enum error e;

    if (blob->type != BLOB_PAGE)
        return E_InvalidBlobType;
    if (range->start > blob->content.length || range->length > blob->content.length - range->start)
        return E_InvalidPageRange;
    if (!sequence_conditions_hold(conditions, blob->sequence_number))
        return E_SequenceNumberConditionNotMet;
    e = encryption_check(d, &blob->encryption);
    return e ? e : blob_begin_change(d, ret_blob);
}

static enum error end_change_of_pages(struct decision *d, enum store_result result,
                                      const struct blob *blob, uint64_t *ret_sequence_number)
{
    if (result)
        return decision_fail_content(d, result);
    blob_change(d, &blob_state(d)->blob, blob);
    *ret_sequence_number = blob->sequence_number;
    return OK;
}

/* rest: Put-Page */
enum error put_page_decide(struct decision *d, const struct put_page_parameters *p,
                           struct put_page_result *r)
{
    struct blob blob;
    enum store_result result;
    enum error e = begin_change_of_pages(d, &p->range, &p->conditions, &blob);

    if (e)
        return e;
    result = content_write(d->before, d->changes, d->arena, &blob.content, blob.etag.v,
                           p->range.start, &d->input->body);
    return end_change_of_pages(d, result, &blob, &r->sequence_number);
}

/* rest: Put-Page "x-ms-page-write: clear" */
enum error clear_page_decide(struct decision *d, const struct clear_page_parameters *p,
                             struct clear_page_result *r)
{
    struct blob blob;
    enum store_result result;
    enum error e = begin_change_of_pages(d, &p->range, &p->conditions, &blob);

    if (e)
        return e;
    result = content_clear(d->before, d->changes, d->arena, &blob.content, blob.etag.v,
                           p->range.start, p->range.length, &d->leaves_more);
    return end_change_of_pages(d, result, &blob, &r->sequence_number);
}

/* Get Page Ranges: lists the pages of a page blob that are not zero, or that differ from an older
 * snapshot. */

/* Finds the snapshot to compare with.
 *
 * Returns PreviousSnapshotCannotBeNewer, PreviousSnapshotNotFound, BlobOverwritten. */
static enum error find_previous(struct decision *d, const void *asked, struct content *ret_content)
{
    const struct get_page_ranges_parameters *p = asked;
    const struct blob *blob = &blob_state(d)->blob;
    instant previous = p->previous;
    struct blob older;
    enum store_result result;

    if (!blob_ref_is_base(blob->ref) && previous > blob->ref.at)
        return E_PreviousSnapshotCannotBeNewer;
    result = blob_read(d->before, d->arena, blob_snapshot_ref(previous), &older);
    if (result == STORE_NOT_FOUND)
        return E_PreviousSnapshotNotFound;
    if (result)
        return decision_fail_content(d, result);
    if (older.content.id != blob->content.id)
        return E_BlobOverwritten;
    *ret_content = older.content;
    return OK;
}

/* rest: Get-Page-Ranges */
enum error get_page_ranges_decide(struct decision *d, const struct get_page_ranges_parameters *p,
                                  struct get_page_ranges_result *r)
{
    const struct blob *blob = &blob_state(d)->blob;
    struct range_list_source source = {
        .content = &blob->content,
        .unit = 1,
        .find_older = p->previous != 0 ? find_previous : NULL,
        .context = p,
    };

    if (blob->type != BLOB_PAGE)
        return E_InvalidBlobType;
    if (blob->copy.status == COPY_PENDING) /* azure-cli issue 28727; decision: 855 */
        return E_PendingCopyOperation;
    r->length = blob->content.length;
    return range_list_find(d, &p->list, &source, &r->ranges);
}
