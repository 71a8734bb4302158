/* Delete Blob: the base blob, its snapshots, or one snapshot. */
#include "blob/blob_operations.h"
#include "blob/tag_index.h"
#include "blob/uncommitted.h"

/* What goes with the blobs that are deleted: each content once, however many of them hold it. */
struct contents {
    struct ended {
        struct content content;
        uint32_t holders;
    } * items;
    size_t count;
    size_t capacity;
};

static void end_content(struct decision *d, struct contents *contents,
                        const struct content *content)
{
    for (size_t i = 0; i < contents->count; i++) {
        if (contents->items[i].content.id == content->id) {
            contents->items[i].holders++;
            return;
        }
    }
    if (contents->count == contents->capacity) {
        size_t capacity = contents->capacity > 0 ? 2 * contents->capacity : 4;
        struct ended *grown = arena_array(d->arena, capacity, sizeof *grown);

        if (contents->count > 0)
            memcpy(grown, contents->items, contents->count * sizeof *grown);
        contents->items = grown;
        contents->capacity = capacity;
    }
    contents->items[contents->count++] = (struct ended){ .content = *content, .holders = 1 };
}

static enum store_result give_up_contents(struct decision *d, const struct contents *contents)
{
    for (size_t i = 0; i < contents->count; i++) {
        enum store_result result =
            content_give_up(d->before, d->changes, d->arena, &contents->items[i].content,
                            contents->items[i].holders, &d->leaves_more);

        if (result)
            return result;
    }
    return STORE_OK;
}

/* Deletes the records of all snapshots. STORE_OK also when there are none. */
static enum store_result delete_snapshots(struct decision *d, struct contents *contents)
{
    struct scan *scan =
        scan_open(d->before, RECORD_LISTED, blob_snapshot_prefix, blob_snapshot_prefix);
    struct record record;
    struct blob blob;
    enum store_result result;

    while ((result = scan_next(scan, d->arena, &record)) == STORE_OK) {
        if (!blob_decode(record.value, &blob)) {
            result = STORE_CORRUPT;
            break;
        }
        end_content(d, contents, &blob.content);
        blob_delete_record(d->changes, d->arena, blob.snapshot);
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result delete_base(struct decision *d, struct contents *contents)
{
    const struct blob *blob = &blob_state(d)->blob;
    struct uncommitted total;
    enum store_result result;

    if (!blob->uncommitted)
        end_content(d, contents, &blob->content);
    blob_delete_record(d->changes, d->arena, 0);
    tag_index_update(d->changes, d->arena, blob->tags, bytes_of(NULL, 0));
    if (blob->nothing_staged)
        return STORE_OK;
    result = uncommitted_read(d->before, d->arena, &total);
    if (result || total.count == 0)
        return result;
    return uncommitted_drop(d->before, d->changes, d->arena, &total, NULL, &d->leaves_more);
}

static enum error refuse_if_snapshots(struct decision *d)
{
    struct scan *scan =
        scan_open(d->before, RECORD_LISTED, blob_snapshot_prefix, blob_snapshot_prefix);
    struct record record;
    enum store_result result = scan_next(scan, d->arena, &record);

    scan_close(scan);
    if (result == STORE_NOT_FOUND)
        return OK;
    return result ? decision_fail_store(d, result) : E_SnapshotsPresent;
}

static enum store_result delete_chosen(struct decision *d, enum delete_snapshots snapshots,
                                       struct contents *contents)
{
    enum store_result result = STORE_OK;

    if (blob_asked(d)->snapshot != 0) {
        end_content(d, contents, &blob_state(d)->blob.content);
        blob_delete_record(d->changes, d->arena, blob_asked(d)->snapshot);
        return STORE_OK;
    }
    if (snapshots != SNAPSHOTS_REFUSED)
        result = delete_snapshots(d, contents);
    if (!result && snapshots != SNAPSHOTS_ONLY)
        result = delete_base(d, contents);
    return result;
}

/* A base that has snapshots goes only together with them. rest: Delete-Blob; semantics 5 */
enum error delete_blob_decide(struct decision *d, const struct delete_blob_parameters *p,
                              struct delete_blob_result *r)
{
    struct contents contents = { .count = 0 };
    enum store_result result;
    enum error e;

    (void)r;
    if (blob_asked(d)->snapshot == 0 && p->snapshots == SNAPSHOTS_REFUSED) {
        e = refuse_if_snapshots(d);
        if (e)
            return e;
    }
    result = delete_chosen(d, p->snapshots, &contents);
    if (!result)
        result = give_up_contents(d, &contents);
    return result ? blob_fail_content(d, result) : OK;
}
