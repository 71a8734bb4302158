/* Get Page Ranges: lists the pages of a page blob that are not zero, or that differ from an older
 * snapshot. */
#include "blob/page_blob_operations.h"

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
        .asked = p,
    };

    if (blob->type != BLOB_PAGE)
        return E_InvalidBlobType;
    if (blob->copy.status == COPY_PENDING) /* azure-cli issue 28727; decision: 855 */
        return E_PendingCopyOperation;
    r->length = blob->content.length;
    return range_list_find(d, &p->list, &source, &r->ranges);
}
