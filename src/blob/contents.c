/* See contents.h. */
#include "blob/contents.h"

/* ---- a list of them ---- */

void contents_end(struct decision *d, struct ended_contents *ended, const struct blob *blob)
{
    for (size_t i = 0; i < ended->count && blob->content.form == CONTENT_SEQUENCE; i++) {
        if (ended->items[i].content.id == blob->content.id) {
            ended->items[i].holders++;
            return;
        }
    }
    if (ended->count == ended->capacity) {
        size_t capacity = ended->capacity > 0 ? 2 * ended->capacity : 4;
        struct ended *grown = arena_array(d->arena, capacity, sizeof *grown);

        if (ended->count > 0)
            memcpy(grown, ended->items, ended->count * sizeof *grown);
        ended->items = grown;
        ended->capacity = capacity;
    }
    ended->items[ended->count++] = (struct ended){
        .content = blob->content,
        .is_base = blob->snapshot == 0,
        .holders = 1,
    };
}

static enum store_result give_up(struct decision *d, const struct ended *ended,
                                 struct content *base)
{
    const struct content *content = &ended->content;

    if (content->form == CONTENT_SEQUENCE)
        return content_give_up(d->before, d->changes, d->arena, content, ended->holders,
                               &d->leaves_more);
    if (ended->is_base) {
        content_newest_delete(d->changes, content, &d->leaves_more);
        return STORE_OK;
    }
    return content_snapshot_delete(d->before, d->changes, content,
                                   base && base->id == content->id ? base : NULL, &d->leaves_more);
}

/* From the newest to the oldest: so the base remembers the newest generation that stays, although
 * content_snapshot_delete() sees those that go in the same changes. */
enum store_result contents_give_up(struct decision *d, const struct ended_contents *ended,
                                   struct content *base)
{
    for (size_t i = ended->count; i > 0; i--) {
        enum store_result result = give_up(d, &ended->items[i - 1], base);

        if (result)
            return result;
    }
    return STORE_OK;
}

/* ---- one ---- */

enum store_result contents_replace(struct decision *d, const struct content *was,
                                   struct content *content, const struct content_block *blocks,
                                   size_t count)
{
    enum store_result result;

    if (was->form == CONTENT_SPARSE) {
        content_newest_delete(d->changes, was, &d->leaves_more);
        return STORE_OK;
    }
    result = content_replace(d->before, d->changes, d->arena, was, content, blocks, count,
                             &d->leaves_more);
    return result ? result : contents_cut_tail(d, was, 0);
}

/* The longest holder is the newest snapshot. Those of one content follow each other, because the
 * content's id is the time when it was made. */
enum store_result contents_cut_tail(struct decision *d, const struct content *content,
                                    instant except)
{
    enum store_result result;
    struct record record;
    struct scan *scan;
    struct blob blob;
    uint64_t longest = 0;

    if (!content->is_appended || content->is_alone)
        return STORE_OK;
    if (d->access == STORE_NO_WAIT)
        return STORE_WAIT; /* there may be many: not on a worker */
    scan = blob_scan_snapshots(d->before, content->id);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (!blob_decode(record.value, &blob)) {
            result = STORE_CORRUPT;
            break;
        }
        if (blob.content.id != content->id)
            break;
        if (blob.snapshot != except)
            longest = blob.content.length;
    }
    scan_close(scan);
    if (result && result != STORE_NOT_FOUND)
        return result;
    if (longest > 0)
        content_delete_tail(d->changes, content, longest, &d->leaves_more);
    return STORE_OK;
}
