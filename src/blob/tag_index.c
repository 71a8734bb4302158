/* See tag_index.h. */
#include "blob/tag_index.h"

#include "blob/expiry.h"
#include "blob/tag_operations.h"

#define SEPARATOR "\x01"
#define AFTER     "\x02"

struct bytes tag_index_prefix(struct arena *arena, struct bytes name)
{
    struct text key;

    text_init(&key, arena, name.len + 2);
    text_add_char(&key, 't');
    text_add(&key, name);
    text_add_string(&key, SEPARATOR);
    return text_bytes(&key);
}

static struct bytes with_value(struct arena *arena, struct bytes name, struct bytes value,
                               const char *end)
{
    struct text key;

    text_init(&key, arena, name.len + value.len + 3);
    text_add_char(&key, 't');
    text_add(&key, name);
    text_add_string(&key, SEPARATOR);
    text_add(&key, value);
    text_add_string(&key, end);
    return text_bytes(&key);
}

struct bytes tag_index_key(struct arena *arena, struct bytes name, struct bytes value)
{
    return with_value(arena, name, value, SEPARATOR);
}

struct bytes tag_index_after(struct arena *arena, struct bytes name, struct bytes value)
{
    return with_value(arena, name, value, AFTER);
}

/* Reads the next of the encoded tags. Returns false at the end. */
static bool next_tag(struct decoder *in, struct tag *ret_tag)
{
    if (in->bad || in->at == in->end)
        return false;
    ret_tag->name = decode_bytes(in);
    ret_tag->value = decode_bytes(in);
    return !in->bad;
}

/* Updates the index when the tags of a base blob change, or the blob is created or deleted. Both
 * are encoded; ptr NULL if there are none. */
static void tag_index_update(struct changes *changes, struct arena *arena, struct bytes were,
                             struct bytes are)
{
    struct decoder in;
    struct tag tag;

    if (bytes_equal(were, are))
        return;
    decoder_init(&in, were);
    while (next_tag(&in, &tag)) {
        struct bytes now = tags_value(are, tag.name);

        if (!now.ptr || !bytes_equal(now, tag.value))
            changes_index_delete(changes, tag_index_key(arena, tag.name, tag.value));
    }
    decoder_init(&in, are);
    while (next_tag(&in, &tag))
        changes_index_put(changes, tag_index_key(arena, tag.name, tag.value), are);
}

/* ---- changes of blobs, which update the index ---- */

/* Returns the tags by which searches find the blob. */
static struct bytes indexed_tags(const struct blob *blob)
{
    if (!blob || !blob_ref_is_base(blob->ref) || blob->uncommitted || blob->deletion.at > 0)
        return bytes_of(NULL, 0);
    return blob->tags;
}

void blob_change(struct decision *d, const struct blob *was, const struct blob *now)
{
    tag_index_update(d->changes, d->arena, indexed_tags(was), indexed_tags(now));
    now = expiry_follow(d, was, now);
    if (now)
        blob_write(d->changes, d->arena, now);
    else
        changes_delete(d->changes, RECORD_LISTED, blob_record_key(d->arena, was->ref));
}

/* ---- Get Blob Tags, Set Blob Tags ---- */

/* Also works for snapshots, versions and archived blobs. rest: Get-Blob-Tags */
enum error get_blob_tags_decide(struct decision *d, const struct get_blob_tags_parameters *p,
                                struct get_blob_tags_result *r)
{
    (void)p;
    r->tags = blob_state(d)->blob.tags;
    return OK;
}

/* Replaces all tags. ETag and Last-Modified do not change, and the blob may be archived.
 * rest: Set-Blob-Tags */
enum error set_blob_tags_decide(struct decision *d, const struct set_blob_tags_parameters *p,
                                struct set_blob_tags_result *r)
{
    struct blob blob = blob_state(d)->blob;

    (void)r;
    blob.tags = p->tags;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}
