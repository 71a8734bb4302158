/* See snapshot_marks.h. */
#include "blob/snapshot_marks.h"

#include <assert.h>

#include "base/codec.h"
#include "blob/blob.h"
#include "service/small_record.h"

#define MARKS_VERSION_GONE 1 /* one mark, when no blob was soft-deleted */
#define MARKS_VERSION      2

const struct bytes snapshot_marks_key = { "\0", 1 };

/* ---- the record ---- */

static bool mark_is_valid(const struct snapshot_mark *mark)
{
    return mark->from <= mark->until && mark->until > 0 && mark->until < INSTANT_MAX &&
           mark->at >= mark->until && (mark->kind != MARK_DELETED || mark->expires > mark->at);
}

static struct snapshot_mark decode_mark(struct decoder *in)
{
    struct snapshot_mark mark;
    unsigned kind = decode_u8(in);

    if (kind >= MARK_KINDS)
        in->bad = true;
    mark.kind = (enum mark_kind)kind;
    mark.from = decode_u64(in);
    mark.until = decode_u64(in);
    mark.at = decode_u64(in);
    mark.expires = decode_u64(in);
    return mark;
}

static void decode_gone(struct decoder *in, struct snapshot_marks *marks)
{
    struct snapshot_mark mark = { .kind = MARK_GONE };

    mark.from = decode_u64(in);
    mark.until = mark.at = decode_u64(in);
    marks->count = 1;
    marks->items[0] = mark;
}

bool snapshot_marks_decode(struct bytes value, struct snapshot_marks *ret_marks)
{
    struct snapshot_marks marks = { .count = 0 };
    struct decoder in;
    uint8_t version;

    decoder_init(&in, value);
    version = decode_u8(&in);
    if (version == MARKS_VERSION_GONE) {
        decode_gone(&in, &marks);
    } else if (version == MARKS_VERSION) {
        marks.count = decode_u8(&in);
        if (marks.count > MARKS_MAX)
            return false;
        for (unsigned i = 0; i < marks.count; i++)
            marks.items[i] = decode_mark(&in);
    }
    if (!decoder_ok(&in) || marks.count == 0)
        return false;
    for (unsigned i = 0; i < marks.count; i++)
        if (!mark_is_valid(&marks.items[i]))
            return false;
    *ret_marks = marks;
    return true;
}

enum store_result snapshot_marks_read(struct read_view *before, struct arena *arena,
                                      struct snapshot_marks *ret_marks)
{
    struct record record;
    enum store_result result =
        read_view_get(before, RECORD_LISTED, snapshot_marks_key, arena, &record);

    *ret_marks = (struct snapshot_marks){ .count = 0 };
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (!snapshot_marks_decode(record.value, ret_marks))
        return record_is_unknown("the marks of a blob's snapshots", record.value);
    return STORE_OK;
}

static void encode_mark(struct text *out, const struct snapshot_mark *mark)
{
    assert(mark_is_valid(mark));
    encode_u8(out, (uint8_t)mark->kind);
    encode_u64(out, mark->from);
    encode_u64(out, mark->until);
    encode_u64(out, mark->at);
    encode_u64(out, mark->expires);
}

void snapshot_marks_write(struct changes *changes, struct arena *arena,
                          const struct snapshot_marks *marks)
{
    struct text value;

    assert(marks->count <= MARKS_MAX);
    if (marks->count == 0) {
        changes_delete(changes, RECORD_LISTED, snapshot_marks_key);
        return;
    }
    text_init(&value, arena, 24);
    if (marks->count == 1 && marks->items[0].kind == MARK_GONE) {
        assert(mark_is_valid(&marks->items[0]));
        encode_u8(&value, MARKS_VERSION_GONE);
        encode_u64(&value, marks->items[0].from);
        encode_u64(&value, marks->items[0].until);
    } else {
        encode_u8(&value, MARKS_VERSION);
        encode_u8(&value, (uint8_t)marks->count);
        for (unsigned i = 0; i < marks->count; i++)
            encode_mark(&value, &marks->items[i]);
    }
    changes_put(changes, RECORD_LISTED, snapshot_marks_key, text_bytes(&value), NULL, 0);
}

/* ---- application to a snapshot ---- */

/* Returns true if the snapshot was soft-deleted when the mark was created. The mark does not apply
 * to later deletions. */
static bool is_deleted(const struct snapshot_mark *mark, const struct blob *snapshot)
{
    return snapshot->deletion.at > 0 && snapshot->deletion.at <= mark->at;
}

enum mark_outcome snapshot_mark_apply(const struct snapshot_mark *mark, struct blob *snapshot)
{
    if (snapshot->ref.at < mark->from || snapshot->ref.at > mark->until)
        return MARK_LEAVES_IT;
    if (snapshot->ref.kind == BLOB_VERSION && mark->kind != MARK_RESTORED)
        return MARK_LEAVES_IT; /* versions are deleted one by one */
    switch (mark->kind) {
    case MARK_GONE:
        return MARK_ENDS_IT;
    case MARK_LIVE_GONE:
        return snapshot->deletion.at == 0 ? MARK_ENDS_IT : MARK_LEAVES_IT;
    case MARK_DELETED:
        if (snapshot->deletion.at > 0)
            return MARK_LEAVES_IT;
        snapshot->deletion = (struct blob_deletion){ .at = mark->at, .expires = mark->expires };
        return MARK_CHANGES_IT;
    case MARK_RESTORED:
        if (!is_deleted(mark, snapshot) || snapshot->deletion.expires <= mark->at)
            return MARK_LEAVES_IT;
        snapshot->deletion = (struct blob_deletion){ .at = 0 };
        return MARK_CHANGES_IT;
    }
    assert(false); /* unknown kind */
    return MARK_LEAVES_IT;
}

bool snapshot_marks_apply(const struct snapshot_marks *marks, struct blob *snapshot)
{
    for (unsigned i = 0; i < marks->count; i++)
        if (snapshot_mark_apply(&marks->items[i], snapshot) == MARK_ENDS_IT)
            return false;
    return true;
}
