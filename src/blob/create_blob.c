/* See create_blob.h. rest: Put-Blob, Put-Block-List; semantics 5 */
#include "blob/create_blob.h"

#include "blob/contents.h"
#include "blob/tag_index.h"
#include "blob/tier.h"

enum error create_blob_begin(struct decision *d, enum blob_type type,
                             const struct create_blob *given, struct blob *ret_blob)
{
    const struct blob_state *state = blob_state(d);
    const struct blob *was = d->subject.exists ? &state->blob : NULL;
    struct blob blob = {
        .type = type,
        .nothing_staged = true, /* when it is committed */
        .without_snapshots = !state->found || state->blob.without_snapshots,
        .created = d->now,
        .etag = etag_after(d->subject.etag, d->now),
        .modified = d->now,
        .http = given->http,
        .metadata = given->metadata,
        .tags = given->tags,
        .tier = given->tier,
    };
    enum error e = was ? blob_refuse_archived(was) : OK;

    if (e)
        return e;
    if (was) {
        blob.lease = was->lease;
        lease_forget_if_ended(&blob.lease, d->now);
        /* Overwriting keeps the time of creation, as recorded. decision: 12 */
        if (was->type == type)
            blob.created = was->created;
    }
    d->subject.etag = blob.etag;
    d->subject.modified = blob.modified;
    if (given->tier != TIER_NONE) {
        blob.tier_changed = d->now;
    } else if (was && was->type == type) {
        blob.tier = was->tier;
        blob.tier_changed = was->tier_changed;
    }
    *ret_blob = blob;
    return OK;
}

/* Drops what the blob was made of until now, but for what the new content is made of. */
static enum store_result unref_old(struct decision *d, struct content *content,
                                   const struct named_blocks *blocks)
{
    const struct named_blocks none = { .named_count = 0 };
    const struct named_blocks *kept = blocks ? blocks : &none;
    const struct blob_state *state = blob_state(d);
    struct uncommitted total;
    enum store_result result;

    if (!state->found)
        return STORE_OK;
    if (d->subject.exists) {
        result = contents_replace(d, &state->blob.content, content, kept->named, kept->named_count);
        if (result)
            return result;
    }
    if (state->blob.nothing_staged)
        return STORE_OK;
    result = uncommitted_read(d->before, d->arena, &total);
    if (result || total.count == 0)
        return result;
    return uncommitted_drop(d->before, d->changes, d->arena, &total, blocks, &d->leaves_more);
}

enum error create_blob_commit(struct decision *d, struct blob *blob,
                              const struct named_blocks *blocks)
{
    enum store_result result = unref_old(d, &blob->content, blocks);

    if (result)
        return decision_fail_content(d, result);
    tag_index_update(d->changes, d->arena, d->subject.tags, blob->tags);
    blob_write(d->changes, d->arena, blob);
    return OK;
}
