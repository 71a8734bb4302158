/* Get File, Put Range and List Ranges. */
#include "file/range_operations.h"

#include "file/file_content.h"
#include "opens/change_notification.h"

/* Finds the range. The data is read while it is sent, from the decision's snapshot of the file's
 * partition (promise 4). rest: Get-File */
enum error get_file_decide(struct decision *d, const struct get_file_parameters *p,
                           struct get_file_result *r)
{
    enum error e;

    r->shown = file_show(file_state(d));
    e = read_range_find(d, &p->range, r->shown.file.content.length, &r->part);
    return e ? e : file_pass_read(d, r->part.offset, r->part.length);
}

/* ---- Put Range ---- */

/* Writes the file's record after a change of its data. */
static enum error end_change(struct decision *d, const struct put_range_parameters *range,
                             struct file *file, instant *ret_written)
{
    if (!range->keeps_written)
        file->written = d->now;
    if (!range->keeps_changed)
        file->changed = d->now;
    file_write_modified(d, file);
    *ret_written = file->written;
    return notify_change(&file_state(d)->tree, &file_state(d)->place, CHANGE_MODIFIED,
                         CHANGE_LAST_WRITE);
}

/* returns  OK, E_ReadOnlyAttribute, E_InvalidRange
 * rest: Put-Range */
enum error put_range_decide(struct decision *d, const struct put_range_parameters *p,
                            struct put_range_result *r)
{
    struct file file = file_state(d)->file;
    enum error e = file_refuse_read_only(&file);

    if (!e)
        e = file_pass_write(d);
    if (!e)
        e = file_write_bytes(d, &file, p->offset, &d->input->body);
    return e ? e : end_change(d, p, &file, &r->written);
}

/* rest: Put-Range "x-ms-write: clear" */
enum error clear_range_decide(struct decision *d, const struct clear_range_parameters *p,
                              struct clear_range_result *r)
{
    struct file file = file_state(d)->file;
    enum error e = file_refuse_read_only(&file);

    if (!e)
        e = file_pass_write(d);
    if (!e)
        e = file_clear_bytes(d, &file, p->range.offset, p->range.length);
    return e ? e : end_change(d, &p->range, &file, &r->written);
}

/* ---- List Ranges ---- */

/* Confirms that the previous snapshot does not exist: returns STORE_CONFLICT if a snapshot of the
 * share was created or deleted since the subject was read. A subject in a snapshot never changes,
 * so it is enough if that snapshot still exists. */
static enum store_result check_subject(struct decision *d, struct read_view *before)
{
    const struct share *found = &file_state(d)->share;
    instant asked = file_requested(d)->snapshot;
    struct share share;
    enum store_result result = share_read(before, d->arena, share_snapshot_key(asked), &share);

    if (result)
        return result == STORE_NOT_FOUND ? STORE_CONFLICT : result;
    return asked > 0 || (share.snapshots == found->snapshots &&
                         share.newest_snapshot == found->newest_snapshot)
               ? STORE_OK
               : STORE_CONFLICT;
}

/* Finds the record of a share snapshot.
 * Returns OK, E_PreviousSnapshotNotFound. */
static enum error find_snapshot(struct decision *d, instant snapshot, struct share *ret_share)
{
    struct partition at = { .space = file_account_space(d->input->account),
                            .key = file_requested(d)->share };
    struct decision_part *owner = decision_open(d, at, NULL);
    enum store_result result =
        share_read(owner->before, d->arena, share_snapshot_key(snapshot), ret_share);
    bool is_none = result == STORE_NOT_FOUND;

    if (is_none)
        result = check_subject(d, owner->before);
    decision_leave(d, owner);
    if (result)
        return decision_fail_store(d, result);
    return is_none ? E_PreviousSnapshotNotFound : OK;
}

/* Finds the content of the file in the snapshot. *ret_found is false if the file did not exist
 * then or had another content; all data then counts as changed. */
static enum error find_previous(struct decision *d, instant previous, struct content *ret_content,
                                bool *ret_found)
{
    const struct file_state *state = file_state(d);
    struct tree tree = state->tree;
    instant asked = file_requested(d)->snapshot;
    struct share share;
    struct file file;
    enum store_result result;
    enum error e = asked > 0 && previous > asked ? E_PreviousSnapshotCannotBeNewer
                                                 : find_snapshot(d, previous, &share);

    *ret_found = false;
    if (e)
        return e;
    tree.at = share.generation;
    result = file_read(&tree, d->before, d->arena, &file);
    if (result)
        return result == STORE_NOT_FOUND ? OK : decision_fail_store(d, result);
    *ret_found = file.content.id == state->file.content.id;
    *ret_content = file.content;
    return OK;
}

static enum error give_previous(struct decision *d, const void *previous, struct content *ret_older)
{
    (void)d;
    *ret_older = *(const struct content *)previous;
    return OK;
}

/* Lists whole sectors, as the tests of Azure's clients expect (decision: 302). rest: List-Ranges */
enum error list_ranges_decide(struct decision *d, const struct list_ranges_parameters *p,
                              struct list_ranges_result *r)
{
    const struct content *content = &file_state(d)->file.content;
    struct range_list_source source = { .content = content, .unit = FILE_UNIT_BYTES };
    struct content previous;
    bool found = false;
    enum error e = p->previous > 0 ? find_previous(d, p->previous, &previous, &found) : OK;

    if (e)
        return e;
    if (found) {
        source.find_older = give_previous;
        source.context = &previous;
    }
    r->length = content->length;
    return range_list_find(d, &p->list, &source, &r->ranges);
}
