/* See contents.h. */
#include "blob/contents.h"

#include "service/small_record.h"

/* Memory limit for reading one deleted content: at most 50,000 runs, and one segment of its map. */
#define READ_ARENA_MAX ((size_t)64 << 20)

/* ---- list of contents ---- */

/* Finds or adds the entry of content. Most are added in the order of their ids: if the id is
 * greater than all others, there is no search. */
static struct ended *find_ended(struct ended_contents *ended, uint64_t id)
{
    if (ended->count == 0 || id > ended->newest)
        return NULL;
    for (size_t i = ended->count; i > 0; i--)
        if (ended->items[i - 1].content.id == id)
            return &ended->items[i - 1];
    return NULL;
}

void contents_end(struct decision *d, struct ended_contents *ended, const struct blob *blob)
{
    bool is_empty = blob->content.form == CONTENT_SEQUENCE && blob->content.id == 0;
    struct ended *known =
        blob->content.form == CONTENT_SEQUENCE ? find_ended(ended, blob->content.id) : NULL;

    if (is_empty)
        return;
    if (known) {
        known->holders++;
        return;
    }
    if (blob->content.id > ended->newest)
        ended->newest = blob->content.id;
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
        .is_base = blob_ref_is_base(blob->ref),
        .holders = 1,
    };
}

/* arena: memory for the records read */
static enum store_result give_up(struct decision *d, struct arena *arena, const struct ended *ended,
                                 struct content *base)
{
    const struct content *content = &ended->content;

    if (content->form == CONTENT_SEQUENCE)
        return content_unref(d->before, d->changes, arena, content, ended->holders,
                             &d->leaves_more);
    if (ended->is_base) {
        content_newest_delete(d->changes, content, &d->leaves_more);
        return STORE_OK;
    }
    return content_snapshot_delete(d->before, d->changes, content,
                                   base && base->id == content->id ? base : NULL, &d->leaves_more);
}

/* Releases them from newest to oldest, so that the base records the newest remaining generation,
 * although content_snapshot_delete() still sees those deleted in the same changes. */
enum store_result content_release_reference(struct decision *d, const struct ended_contents *ended,
                                            struct content *base)
{
    struct arena *arena = arena_new_like(d->arena, READ_ARENA_MAX);
    struct arena_mark empty = arena_mark(arena);
    enum store_result result = STORE_OK;

    for (size_t i = ended->count; i > 0 && !result; i--) {
        result = give_up(d, arena, &ended->items[i - 1], base);
        arena_rewind(arena, empty);
    }
    arena_free(arena);
    return result;
}

/* ---- one content ---- */

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

/* In the order of their dates, snapshots and versions never return to an older content. The date
 * may be before the content's id: a version completed by a pending copy has the date of the start
 * of the copy. */
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
    if (!d->access.may_block)
        return STORE_WAIT; /* there may be many: not on a worker */
    scan = blob_scan_snapshots(d->before, 0);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (!blob_decode(record.value, &blob)) {
            result = STORE_CORRUPT;
            break;
        }
        if (blob.content.id > content->id)
            break;
        if (blob.content.id == content->id && blob.ref.at != except &&
            blob.content.length > longest)
            longest = blob.content.length;
    }
    scan_close(scan);
    if (result && result != STORE_NOT_FOUND)
        return result;
    return longest > 0 ? content_delete_tail(d->before, d->changes, d->arena, d->now, content,
                                             longest, &d->leaves_more)
                       : STORE_OK;
}

enum store_result contents_drop_staged(struct decision *d, const struct named_blocks *blocks)
{
    struct uncommitted total;
    enum store_result result;

    if (blob_state(d)->blob.nothing_staged)
        return STORE_OK;
    result = uncommitted_read(d->before, d->arena, &total);
    if (result || total.count == 0)
        return result;
    return uncommitted_drop(d->before, d->changes, d->arena, &total, blocks, &d->leaves_more);
}

enum store_result contents_read_staged(struct decision *d, struct uncommitted *ret_total)
{
    const struct blob_state *state = blob_state(d);
    enum store_result result;

    if (!state->found || state->blob.nothing_staged) {
        *ret_total = (struct uncommitted){ .count = 0 };
        return STORE_OK;
    }
    result = uncommitted_read(d->before, d->arena, ret_total);
    if (result || ret_total->count == 0 || !blocks_expired(ret_total->last_put, d->now))
        return result;
    result = uncommitted_drop(d->before, d->changes, d->arena, ret_total, NULL, &d->leaves_more);
    *ret_total = (struct uncommitted){ .count = 0 };
    return result;
}
