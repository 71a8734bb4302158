/* The record of a directory or a file.
 *
 *   version 1:  u8 1; u8 kind (tree/record.h); ETag, modified; attributes; created,
 *               accessed, written, changed; permission; bytes metadata; files only:
 *               lease (concurrency/lease.h); bytes content type, encoding, language,
 *               disposition, cache control; bytes MD5, may be empty; content: id, length,
 *               u8 flags (1 has units, 2 has holes, 4 without pages), epoch, kept, stamp,
 *               sealed at; u8 1 and copy state (service/copy_state.h) if created by a copy,
 *               else 0
 *               ETag, times in ticks, id and stamp: encode_long(); other numbers: varints
 * To change the format, add a version number, keep the old decoder, and add a data directory in
 * the old format to the tests. */
#include "file/file.h"

#include <assert.h>

#include "service/small_record.h"

#define RECORD_VERSION 1

enum { FLAG_HAS_UNITS = 1, FLAG_HAS_HOLES = 2, FLAG_WITHOUT_PAGES = 4, FLAGS_ALL = 7 };

static const struct bytes record_key = BYTES("f");

/* ---- encoding ---- */

static void encode_content(struct text *out, const struct content *content)
{
    encode_long(out, content->id);
    encode_u64(out, content->length);
    encode_u8(out, (uint8_t)((content->has_units ? FLAG_HAS_UNITS : 0) |
                             (content->has_holes ? FLAG_HAS_HOLES : 0) |
                             (content->without_pages ? FLAG_WITHOUT_PAGES : 0)));
    encode_u64(out, content->epoch);
    encode_u64(out, content->last_retained);
    encode_long(out, content->stamp);
    encode_u64(out, content->sealed_at);
}

static void encode_http(struct text *out, const struct http_properties *http)
{
    encode_bytes(out, http->content_type);
    encode_bytes(out, http->content_encoding);
    encode_bytes(out, http->content_language);
    encode_bytes(out, http->content_disposition);
    encode_bytes(out, http->cache_control);
    encode_bytes(out, bytes_of(http->md5, http->has_md5 ? http->md5_size : 0));
}

static void encode(struct text *out, const struct file *file)
{
    encode_u8(out, RECORD_VERSION);
    encode_u8(out, (uint8_t)file->kind);
    encode_long(out, file->etag.v);
    encode_long(out, file->modified);
    encode_u64(out, file->attributes);
    encode_long(out, file->created);
    encode_long(out, file->accessed);
    encode_long(out, file->written);
    encode_long(out, file->changed);
    encode_u64(out, file->permission);
    encode_bytes(out, file->metadata);
    if (file->kind != TREE_FILE)
        return;
    lease_encode(out, &file->lease);
    encode_http(out, &file->http);
    encode_content(out, &file->content);
    encode_u8(out, file->copy.status != COPY_NONE);
    if (file->copy.status != COPY_NONE)
        copy_state_encode(out, &file->copy);
}

/* ---- decoding ---- */

static void decode_content(struct decoder *in, struct content *content)
{
    uint8_t flags;

    content->form = CONTENT_SPARSE;
    content->id = decode_long(in);
    content->length = decode_u64(in);
    flags = decode_u8(in);
    content->epoch = decode_u32(in);
    content->last_retained = decode_u32(in);
    content->stamp = decode_long(in);
    content->sealed_at = decode_u64(in);
    content->has_units = (flags & FLAG_HAS_UNITS) != 0;
    content->has_holes = (flags & FLAG_HAS_HOLES) != 0;
    content->without_pages = (flags & FLAG_WITHOUT_PAGES) != 0;
    if (flags > FLAGS_ALL || !content_is_valid(content))
        in->bad = true;
}

static void decode_http(struct decoder *in, struct http_properties *http)
{
    struct bytes md5;

    http->content_type = decode_bytes(in);
    http->content_encoding = decode_bytes(in);
    http->content_language = decode_bytes(in);
    http->content_disposition = decode_bytes(in);
    http->cache_control = decode_bytes(in);
    md5 = decode_bytes(in);
    if (md5.len > sizeof http->md5) {
        in->bad = true;
        return;
    }
    http->has_md5 = md5.len > 0;
    http->md5_size = (uint8_t)md5.len;
    if (md5.len > 0)
        memcpy(http->md5, md5.ptr, md5.len);
}

static bool attributes_fit(const struct file *file)
{
    bool directory = (file->attributes & ATTRIBUTE_DIRECTORY) != 0;

    return (file->attributes & ~(uint32_t)ATTRIBUTES_ALL) == 0 &&
           directory == (file->kind == TREE_DIRECTORY);
}

bool file_decode(struct bytes value, struct file *ret_file)
{
    struct file file = { .kind = 0 };
    struct decoder in;
    uint8_t kind;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    kind = decode_u8(&in);
    if (kind != TREE_FILE && kind != TREE_DIRECTORY)
        return false;
    file.kind = (enum tree_kind)kind;
    file.etag.v = decode_long(&in);
    file.modified = decode_long(&in);
    file.attributes = decode_u32(&in);
    file.created = decode_long(&in);
    file.accessed = decode_long(&in);
    file.written = decode_long(&in);
    file.changed = decode_long(&in);
    file.permission = decode_u64(&in);
    file.metadata = decode_bytes(&in);
    if (file.kind == TREE_FILE) {
        lease_decode(&in, &file.lease);
        decode_http(&in, &file.http);
        decode_content(&in, &file.content);
        if (decode_u8(&in) != 0)
            copy_state_decode(&in, &file.copy);
    }
    if (!decoder_ok(&in) || file.etag.v == 0 || !attributes_fit(&file))
        return false;
    *ret_file = file;
    return true;
}

/* ---- records ---- */

enum store_result file_read(const struct tree *tree, struct read_view *before, struct arena *arena,
                            struct file *ret_file)
{
    struct tree_record record;
    enum store_result result = tree_record_read(tree, before, arena, record_key, &record);

    if (result)
        return result;
    if (!file_decode(record.value, ret_file))
        return record_is_unknown("the record of a directory or file", record.value);
    ret_file->stored = record;
    return STORE_OK;
}

struct bytes file_encode(struct arena *arena, const struct file *file)
{
    struct text out;

    text_init(&out, arena, 160 + file->metadata.len);
    encode(&out, file);
    return text_bytes(&out);
}

void file_keep(struct decision *d, struct decision_part *part, struct file *file)
{
    struct tree *tree = &file_state(d)->tree;
    struct tree_record kept = file->stored;
    struct file old;
    bool readable;

    file->stored = (struct tree_record){ .value = { NULL, 0 } };
    if (!kept.value.ptr || !tree_record_is_retained(tree, &kept))
        return;
    readable = file_decode(kept.value, &old);
    assert(readable && old.content.stamp == file->content.stamp);
    if (readable && old.kind == TREE_FILE) {
        old.content = content_snapshot(tree_change(tree, part), &file->content);
        kept.value = file_encode(tree->d->arena, &old);
    }
    tree_record_retain(tree, part, record_key, &kept);
}

void file_write(struct decision *d, struct decision_part *part, const struct file *file)
{
    struct file written = *file;

    assert(file->etag.v != 0 && attributes_fit(file));
    assert(file->kind == TREE_DIRECTORY || content_is_valid(&file->content));
    file_keep(d, part, &written);
    tree_record_put(&file_state(d)->tree, part, record_key, file_encode(d->arena, &written));
}

static void defer_collection(struct tree *tree, struct decision_part *part, bool more)
{
    if (more)
        changes_defer(tree_change(tree, part), tree->d->now, TASK_COLLECT_CONTENT,
                      bytes_of(NULL, 0));
}

void file_delete(struct decision *d, struct decision_part *part, const struct file *file)
{
    struct tree *tree = &file_state(d)->tree;
    struct file gone = *file;
    bool more = false;

    file_keep(d, part, &gone);
    tree_record_delete(tree, part, record_key);
    if (gone.kind == TREE_FILE)
        content_newest_delete(tree_change(tree, part), &gone.content, &more);
    defer_collection(tree, part, more);
}

void file_replace_content(struct decision *d, struct decision_part *part, struct file *file,
                          const struct content *content)
{
    bool more = false;

    file_keep(d, part, file);
    content_newest_delete(part->changes, &file->content, &more);
    defer_collection(&file_state(d)->tree, part, more);
    file->content = *content;
}

/* ---- versions that no snapshot needs any more ---- */

/* Deletes a snapshot of content. The current record of the file may share data with it, and is
 * then rewritten. */
static enum store_result forget_content(struct tree *tree, struct decision_part *part,
                                        const struct content *kept, struct file *now,
                                        bool *ret_more)
{
    struct tree_record record = now->stored;
    bool is_newest = record.value.ptr && now->kind == TREE_FILE && now->content.id == kept->id;
    enum store_result result = content_snapshot_delete(part->before, tree_change(tree, part), kept,
                                                       is_newest ? &now->content : NULL, ret_more);

    if (result || !is_newest)
        return result;
    record.value = file_encode(tree->d->arena, now);
    tree_record_rewrite(tree, part, record_key, &record);
    return STORE_OK;
}

enum store_result file_forget(struct tree *tree, struct decision_part *part, struct bytes key,
                              struct bytes value)
{
    struct file kept, now = { .kind = 0 };
    bool more = false;
    enum store_result result;

    if (!bytes_equal(key, record_key) || !file_decode(value, &kept))
        return record_is_unknown("the record of a directory or file in a snapshot", value);
    if (kept.kind != TREE_FILE)
        return STORE_OK;
    result = file_read(tree, part->before, tree->d->arena, &now);
    if (!result || result == STORE_NOT_FOUND)
        result = forget_content(tree, part, &kept.content, &now, &more);
    defer_collection(tree, part, more);
    return result;
}
