/* Records that earlier programs wrote stay readable: the bytes of each version, pinned. A new
 * version adds a row; none is ever changed or taken away. blob_record.c, container_record.c */
#include "fixture.h"

#include "base/encode.h"
#include "blob/snapshot_marks.h"
#include "service/restore.h"

static const struct partition partition = { .space = { { 1 } }, .key = BYTES("p") };

/* Commits the changes and gives the value of the one LISTED record as hexadecimal digits. */
static const char *written(struct store *store, struct arena *arena, const struct changes *changes)
{
    struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    struct record record;
    struct text hex;
    uint64_t sequence;
    struct scan *scan;

    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, 1,
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    scan = scan_open(snapshot, RECORD_LISTED, bytes_of("", 0), bytes_of("", 0));
    assert_int_equal(scan_next(scan, arena, &record), STORE_OK);
    scan_close(scan);
    read_view_close(snapshot);
    text_init(&hex, arena, 0);
    for (size_t i = 0; i < record.value.len; i++)
        text_printf(&hex, "%02x", (unsigned char)record.value.ptr[i]);
    return arena_string(arena, text_bytes(&hex));
}

static struct bytes from_hex(struct arena *arena, const char *hex)
{
    struct text escaped;

    text_init(&escaped, arena, 0);
    for (; *hex; hex += 2)
        text_printf(&escaped, "%%%.2s", hex);
    return percent_decode(arena, text_bytes(&escaped));
}

#define LEASE                                                                                      \
    {                                                                                              \
        .id = { { 0xA1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } }, .kind = 1,         \
        .duration_s = 15, .ends = 1000                                                             \
    }
static const struct lease lease = LEASE;

static const struct blob blob = {
    .type = BLOB_BLOCK,
    .created = 100,
    .etag = { 200 },
    .modified = 300,
    .lease = LEASE,
    .content = { .id = 200, .length = 5, .block_count = 2, .is_alone = true },
    .http = { .content_type = BYTES("text/plain"),
              .cache_control = BYTES("no-cache"),
              .has_md5 = true,
              .md5_size = MD5_SIZE,
              .md5 = { 0xFF, 1 } },
    .metadata = BYTES("\x02"
                      "a"
                      "\x02"
                      "b"),
    .tier = TIER_COOL,
    .tier_changed = 400,
};
/* Without extras. */
static const char blob_bytes[] =
    "01000a64c801ac020001a102030405060708090a0b0c0d0e0f1010e807c80105020b746578742f706c61696e0000"
    "00096e6f2d6361636865ff0100000000000000000000000000000502610262029003"
    "00";
static const char blob_bytes_other_md5[] =
    "01008864c801ac020001a102030405060708090a0b0c0d0e0f1010e807c80105020b746578742f706c61696e0000"
    "00096e6f2d636163686504ff0100050261026202"
    "9003"
    "00";

/* Tags, and a blob that comes back from the archive. */
static const char blob_bytes_tags[] =
    "01000a64c801ac020001a102030405060708090a0b0c0d0e0f1010e807c80105020b746578742f706c61696e0000"
    "00096e6f2d6361636865ff0100000000000000000000000000000502610262029003"
    "800505026102310101f403";

static const struct blob page_blob = {
    .type = BLOB_PAGE,
    .created = 100,
    .etag = { 200 },
    .modified = 300,
    .content = { .id = 100,
                 .length = 1u << 20,
                 .form = CONTENT_SPARSE,
                 .has_units = true,
                 .has_holes = true,
                 .epoch = 3,
                 .last_retained = 2,
                 .stamp = 300,
                 .sealed_at = 250 },
    .sequence_number = 77,
};
static const char page_blob_bytes[] =
    "01010064c801ac02000064808040000000000000000000470302ac02fa014d";

static const struct blob append_blob = {
    .type = BLOB_APPEND,
    .nothing_staged = true,
    .created = 100,
    .etag = { 200 },
    .modified = 300,
    .content = { .id = 100, .length = 9, .is_appended = true },
    .committed_blocks = 50000,
    .is_sealed = true,
};
static const char append_blob_bytes[] = "01020464c801ac020000640900000000000000000038d08603";

static const struct blob copied_blob = {
    .type = BLOB_BLOCK,
    .created = 100,
    .etag = { 200 },
    .modified = 300,
    .copy = { .status = COPY_FAILED,
              .id = { { 1, 2, 3 } },
              .source = BYTES("http://h/b"),
              .copied = 5,
              .total = 9,
              .completed = 400,
              .description = BYTES("404") },
};

static const struct container container = {
    .space = { { 7, 8 } },
    .created = 100,
    .etag = { 200 },
    .modified = 300,
    .lease = LEASE,
    .public_access = ACCESS_BLOB,
    .metadata = BYTES("\x02"
                      "a"
                      "\x02"
                      "b"),
};
static const char container_bytes[] =
    "010708000000000000000000000000000064c801ac0201a102030405060708090a0b0c0d0e0f1010e80701050261"
    "026200";
static const char kept_container_bytes[] =
    "020708000000000000000000000000000064c801ac0201a102030405060708090a0b0c0d0e0f1010e80701050261"
    "026200f40309000000000000000000000000000000";

/* A blob's record. */
static void blob_record(void **state)
{
    struct store *store = store_open_memory();
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct blob read;

    (void)state;
    blob_write(changes, arena, &blob);
    assert_string_equal(written(store, arena, changes), blob_bytes);

    assert_true(blob_decode(from_hex(arena, blob_bytes), &read));
    assert_int_equal(read.tier_changed, 400);
    assert_int_equal(read.created, 100);
    assert_int_equal(read.etag.v, 200);
    assert_int_equal(read.modified, 300);
    assert_memory_equal(&read.lease, &lease, sizeof lease);
    assert_int_equal(read.content.id, 200);
    assert_int_equal(read.content.length, 5);
    assert_int_equal(read.content.block_count, 2);
    assert_true(read.content.is_alone && !read.content.without_pieces && !read.nothing_staged);
    assert_bytes(read.http.content_type, "text/plain");
    assert_null(read.http.content_language.ptr);
    assert_bytes(read.http.cache_control, "no-cache");
    assert_memory_equal(read.http.md5, blob.http.md5, sizeof read.http.md5);
    assert_bytes(read.metadata, "\x02"
                                "a"
                                "\x02"
                                "b");
    assert_int_equal(read.tier, TIER_COOL);
    assert_int_equal(read.tier_changed, 400);

    /* One with an MD5 of another length (decision: 16): flagged 128, with its length. */
    struct blob other = blob;

    other.http.md5_size = 3;
    assert_true(blob_decode(from_hex(arena, blob_bytes_other_md5), &read));
    assert_true(read.http.has_md5 && read.http.md5_size == 3);
    assert_memory_equal(read.http.md5, other.http.md5, 3);
    assert_int_equal(read.tier_changed, 400);
    changes = changes_new(arena);
    blob_write(changes, arena, &other);
    assert_string_equal(written(store, arena, changes), blob_bytes_other_md5);

    other = blob;
    other.tags = (struct bytes)BYTES("\x02"
                                     "a\x02"
                                     "1");
    other.rehydrates_to = TIER_HOT;
    other.is_rehydrated_fast = true;
    other.rehydrated_at = 500;
    changes = changes_new(arena);
    blob_write(changes, arena, &other);
    assert_string_equal(written(store, arena, changes), blob_bytes_tags);
    assert_true(blob_decode(from_hex(arena, blob_bytes_tags), &read));
    assert_true(bytes_equal(read.tags, other.tags));
    assert_int_equal(read.rehydrates_to, TIER_HOT);
    assert_int_equal(read.rehydrated_at, 500);
    assert_true(read.is_rehydrated_fast);
    arena_free(arena);
    store_close(store);
}

/* What only page and append blobs have. */
static void blob_record_version_2(void **state)
{
    struct store *store = store_open_memory();
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct blob read;

    (void)state;
    blob_write(changes, arena, &page_blob);
    assert_string_equal(written(store, arena, changes), page_blob_bytes);
    assert_true(blob_decode(from_hex(arena, page_blob_bytes), &read));
    assert_int_equal(read.type, BLOB_PAGE);
    assert_int_equal(read.content.form, CONTENT_SPARSE);
    assert_true(read.content.has_units && read.content.has_holes && !read.content.is_appended);
    assert_int_equal(read.content.epoch, 3);
    assert_int_equal(read.content.last_retained, 2);
    assert_int_equal(read.content.stamp, 300);
    assert_int_equal(read.content.sealed_at, 250);
    assert_int_equal(read.sequence_number, 77);
    assert_int_equal(read.committed_blocks, 0);
    assert_false(read.is_sealed);

    changes = changes_new(arena);
    blob_write(changes, arena, &append_blob);
    assert_string_equal(written(store, arena, changes), append_blob_bytes);
    assert_true(blob_decode(from_hex(arena, append_blob_bytes), &read));
    assert_int_equal(read.type, BLOB_APPEND);
    assert_int_equal(read.content.form, CONTENT_SEQUENCE);
    assert_true(read.content.is_appended && read.is_sealed);
    assert_int_equal(read.committed_blocks, 50000);
    assert_int_equal(read.content.epoch, 0);
    assert_int_equal(read.sequence_number, 0);
    arena_free(arena);
    store_close(store);
}

/* What incremental copies keep, among the extras. */
static void blob_record_of_incremental_copy(void **state)
{
    static const char bytes[] = "\x01\x01\x00"; /* version, page blob, no flags */
    struct arena *arena = arena_new(1 << 16);
    const struct blob made = {
        .type = BLOB_PAGE,
        .incremental = { .is_one = true,
                         .is_whole = true,
                         .source = BYTES("/a/c/b"),
                         .source_snapshot = 7,
                         .snapshot = 300 },
    };
    struct text out;
    struct blob read;
    struct bytes value;

    (void)state;
    text_init(&out, arena, 64);
    blob_encode(&out, &made);
    value = text_bytes(&out);
    assert_memory_equal(value.ptr, bytes, sizeof bytes - 1);
    /* extras 1024, whole, path, instants: stored, so never to change */
    assert_memory_equal(value.ptr + value.len - 13, "\x80\x08\x01\x07/a/c/b\x07\xAC\x02", 13);
    assert_true(blob_decode(value, &read));
    assert_true(read.incremental.is_one && read.incremental.is_whole);
    assert_bytes(read.incremental.source, "/a/c/b");
    assert_int_equal(read.incremental.source_snapshot, 7);
    assert_int_equal(read.incremental.snapshot, 300);
    arena_free(arena);
}

/* A base that has no snapshots says so among the extras. */
static void blob_record_without_snapshots(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct blob made = { .type = BLOB_BLOCK, .without_snapshots = true };
    struct text out;
    struct blob read;
    struct bytes value;

    (void)state;
    text_init(&out, arena, 64);
    blob_encode(&out, &made);
    value = text_bytes(&out);
    assert_memory_equal(value.ptr + value.len - 2, "\x80\x10", 2); /* extras 2048 */
    assert_true(blob_decode(value, &read) && read.without_snapshots);
    assert_true(blob_decode(from_hex(arena, blob_bytes), &read) && !read.without_snapshots);
    arena_free(arena);
}

/* One mark over snapshots that are gone has the form that earlier programs read. */
static void snapshot_marks_record(void **state)
{
    static const struct snapshot_marks made = {
        .items = { { .kind = MARK_GONE, .from = 5, .until = 300, .at = 300 } }, .count = 1
    };
    struct store *store = store_open_memory();
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct snapshot_marks read;
    struct bytes value;

    (void)state;
    snapshot_marks_write(changes, arena, &made);
    assert_string_equal(written(store, arena, changes),
                        "0105ac02"); /* stored, so never to change */
    value = from_hex(arena, "0105ac02");
    assert_true(snapshot_marks_decode(value, &read) && read.count == 1);
    assert_true(read.items[0].kind == MARK_GONE && read.items[0].from == 5 &&
                read.items[0].until == 300 && read.items[0].at == 300);
    store_close(store);
    arena_free(arena);
}

/* Several, of every kind. */
static void snapshot_marks_record_of_several(void **state)
{
    static const char stored[] = "02040100090900020009090a"
                                 "0300090f000000090900"; /* never to change */
    static const struct snapshot_marks made = {
        .items = { { .kind = MARK_LIVE_GONE, .until = 9, .at = 9 },
                   { .kind = MARK_DELETED, .until = 9, .at = 9, .expires = 10 },
                   { .kind = MARK_RESTORED, .until = 9, .at = 15 },
                   { .kind = MARK_GONE, .until = 9, .at = 9 } },
        .count = 4,
    };
    struct store *store = store_open_memory();
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct snapshot_marks read;

    (void)state;
    snapshot_marks_write(changes, arena, &made);
    assert_string_equal(written(store, arena, changes), stored);
    assert_true(snapshot_marks_decode(from_hex(arena, stored), &read) && read.count == 4);
    for (unsigned i = 0; i < 4; i++)
        assert_true(read.items[i].kind == made.items[i].kind &&
                    read.items[i].at == made.items[i].at &&
                    read.items[i].expires == made.items[i].expires);
    assert_false(snapshot_marks_decode(from_hex(arena, "020104000909"), &read)); /* no such kind */
    assert_false(snapshot_marks_decode(from_hex(arena, "0200"), &read));
    store_close(store);
    arena_free(arena);
}

/* What is soft-deleted, and a base whose snapshots are. */
static void blob_record_of_deleted(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct blob made = { .type = BLOB_BLOCK,
                         .has_deleted = true,
                         .deletion = { .at = 5, .expires = 300 } };
    struct text out;
    struct blob read;
    struct bytes value;

    (void)state;
    text_init(&out, arena, 64);
    blob_encode(&out, &made);
    value = text_bytes(&out);
    assert_memory_equal(value.ptr + value.len - 6, "\x80\xc0\x01\x05\xac\x02",
                        6); /* 8192 + 16384 */
    assert_true(blob_decode(value, &read) && read.has_deleted && read.deletion.at == 5 &&
                read.deletion.expires == 300);
    made.uncommitted = true; /* is never kept */
    out.len = 0;
    blob_encode(&out, &made);
    assert_false(blob_decode(text_bytes(&out), &read));
    arena_free(arena);
}

/* A previous version, the current one, and a blob whose versions are all previous. */
static void blob_record_of_versions(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct blob made = { .type = BLOB_BLOCK, .ref = { .kind = BLOB_VERSION, .at = 7 } };
    struct text out;
    struct blob read;
    struct bytes value;

    (void)state;
    text_init(&out, arena, 64);
    blob_encode(&out, &made);
    value = text_bytes(&out);
    assert_memory_equal(value.ptr + value.len - 3, "\x80\x80\x02", 3); /* 32768 */
    assert_true(blob_decode(value, &read) && read.ref.kind == BLOB_VERSION);
    assert_int_equal(blob_version_id(&read), 7);
    made.newest_version = 7; /* only a base gives ids */
    out.len = 0;
    blob_encode(&out, &made);
    assert_false(blob_decode(text_bytes(&out), &read));

    made = (struct blob){ .type = BLOB_BLOCK, .is_version = true, .newest_version = 300 };
    out.len = 0;
    blob_encode(&out, &made);
    value = text_bytes(&out);
    assert_memory_equal(value.ptr + value.len - 5, "\x80\x80\x06\xac\x02", 5); /* 32768 + 65536 */
    assert_true(blob_decode(value, &read) && read.is_version && !blob_has_versions_only(&read));
    assert_int_equal(blob_version_id(&read), 300);

    made.uncommitted = made.nothing_staged = true;
    made.last_length = 5;
    out.len = 0;
    blob_encode(&out, &made);
    value = text_bytes(&out);
    assert_memory_equal(value.ptr + value.len - 3, "\xac\x02\x05", 3);
    assert_true(blob_decode(value, &read) && blob_has_versions_only(&read));
    assert_int_equal(blob_version_id(&read), 0);
    assert_int_equal(read.last_length, 5);
    made.newest_version = 0; /* a version has an id */
    out.len = 0;
    blob_encode(&out, &made);
    assert_false(blob_decode(text_bytes(&out), &read));
    arena_free(arena);
}

/* What a copy left, among the extras. */
static void blob_record_of_copy(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct blob read;
    struct text out;

    (void)state;
    text_init(&out, arena, 64);
    blob_encode(&out, &copied_blob);
    assert_true(blob_decode(text_bytes(&out), &read));
    assert_int_equal(read.copy.status, COPY_FAILED);
    assert_memory_equal(read.copy.id.b, copied_blob.copy.id.b, sizeof read.copy.id.b);
    assert_bytes(read.copy.source, "http://h/b");
    assert_int_equal(read.copy.copied, 5);
    assert_int_equal(read.copy.total, 9);
    assert_int_equal(read.copy.completed, 400);
    assert_bytes(read.copy.description, "404");
    arena_free(arena);
}

/* A container's record. */
static void container_record(void **state)
{
    struct store *store = store_open_memory();
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct container read;

    (void)state;
    container_write(changes, arena, &container);
    assert_string_equal(written(store, arena, changes), container_bytes);

    assert_true(container_decode(from_hex(arena, container_bytes), &read));
    assert_true(guid_equal(&read.space, &container.space));
    assert_int_equal(read.created, 100);
    assert_int_equal(read.etag.v, 200);
    assert_int_equal(read.modified, 300);
    assert_memory_equal(&read.lease, &lease, sizeof lease);
    assert_int_equal(read.public_access, ACCESS_BLOB);
    assert_bytes(read.metadata, "\x02"
                                "a"
                                "\x02"
                                "b");
    assert_null(read.policies.ptr);
    arena_free(arena);
    store_close(store);
}

static const char *textual(struct arena *arena, const char *hex, const char *more)
{
    return arena_string(arena, arena_printf(arena, "%s%s", hex, more));
}

/* Containers with a hierarchical namespace have versions of their own; flat ones are written as before. */
static void hierarchical_container_record(void **state)
{
    static const char *const flat[] = { container_bytes, kept_container_bytes };
    struct arena *arena = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof flat / sizeof flat[0]; i++) {
        struct bytes value = from_hex(arena, flat[i]);
        struct container read;

        assert_true(container_decode(value, &read));
        assert_false(read.hierarchical);
        value = from_hex(arena, textual(arena, flat[i], "04616e6e"));
        *(char *)(uintptr_t)value.ptr = (char)(i + 3);
        assert_true(container_decode(value, &read));
        assert_true(read.hierarchical && bytes_is(read.owner, "ann"));
        assert_int_equal(read.expires, i == 1 ? 500 : 0);
        *(char *)(uintptr_t)value.ptr = i == 0 ? 0 : 5;
        assert_false(container_decode(value, &read));
    }
    arena_free(arena);
}

/* Of one that was deleted and is kept. */
static void kept_container_record(void **state)
{
    struct store *store = store_open_memory();
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct container read, kept = container;
    instant deleted;

    (void)state;
    kept.expires = 500;
    kept.task = (struct guid){ { 9 } };
    container_write_deleted(changes, arena, 77, &kept);
    assert_string_equal(written(store, arena, changes), kept_container_bytes);
    assert_true(container_decode(from_hex(arena, kept_container_bytes), &read));
    assert_int_equal(read.expires, 500);
    assert_true(guid_equal(&read.task, &kept.task));

    assert_true(container_key_read(container_record_key(arena, 77), &deleted));
    assert_int_equal(deleted, 77);
    assert_true(container_key_read(container_record_key(arena, 0), &deleted));
    assert_int_equal(deleted, 0);
    assert_false(container_key_read(bytes_of("D\0\0\0\0\0\0\0\0c", 10), &deleted));
    assert_false(container_key_read(bytes_of("Dc", 2), &deleted));
    arena_free(arena);
    store_close(store);
}

static void each_cut_is_refused(struct arena *arena, const char *hex)
{
    struct bytes of_blob = from_hex(arena, hex);
    struct blob read;

    for (size_t len = 0; len < of_blob.len; len++)
        assert_false(blob_decode(bytes_of(of_blob.ptr, len), &read));
}

/* A version of the future, a value that is cut anywhere, one that is too long: refused. */
static void other_forms_are_refused(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct bytes of_blob = from_hex(arena, blob_bytes);
    struct bytes of_container = from_hex(arena, container_bytes);
    struct blob read_blob;
    struct container read_container;
    struct text other;

    (void)state;
    each_cut_is_refused(arena, blob_bytes);
    each_cut_is_refused(arena, page_blob_bytes);
    each_cut_is_refused(arena, append_blob_bytes);
    for (size_t len = 0; len < of_container.len; len++)
        assert_false(container_decode(bytes_of(of_container.ptr, len), &read_container));
    text_init(&other, arena, 0);
    text_add(&other, of_blob);
    text_add_char(&other, 0);
    assert_false(blob_decode(text_bytes(&other), &read_blob));
    other.ptr[0] = 2;
    assert_false(blob_decode(bytes_of(other.ptr, of_blob.len), &read_blob));
    other.ptr[0] = 1;
    other.ptr[of_blob.len - 1] = (char)0x80; /* an extra that nobody knows: bit 7 */
    other.ptr[of_blob.len] = 1;
    assert_false(blob_decode(text_bytes(&other), &read_blob));
    arena_free(arena);
}

static bool is_read(struct arena *arena, enum blob_type type, struct content content)
{
    const struct blob made = { .type = type, .content = content };
    struct blob read;
    struct text out;

    text_init(&out, arena, 64);
    blob_encode(&out, &made);
    return blob_decode(text_bytes(&out), &read);
}

/* A content whose fields do not fit together, or that no blob of the type has: refused, since what works on
 * it asserts that much. decision: 282 */
static void contents_that_do_not_fit_are_refused(void **state)
{
    static const struct content pages = { .id = 5, .form = CONTENT_SPARSE, .stamp = 5 };
    struct arena *arena = arena_new(1u << 20);
    struct content bad;

    (void)state;
    assert_true(is_read(arena, BLOB_BLOCK, (struct content){ .id = 5, .length = 9 }));
    assert_true(is_read(arena, BLOB_PAGE, (struct content){ .id = 0 })); /* a copy begins */
    assert_true(is_read(arena, BLOB_PAGE, pages));
    assert_false(is_read(arena, BLOB_BLOCK, pages));
    assert_false(is_read(arena, BLOB_PAGE, (struct content){ .id = 5, .length = 9 }));
    assert_false(is_read(arena, BLOB_APPEND, (struct content){ .id = 5, .block_count = 1 }));
    assert_false(is_read(arena, BLOB_BLOCK, (struct content){ .length = 9 }));
    assert_false(is_read(arena, BLOB_BLOCK, (struct content){ .id = 5, .has_runs = true }));
    assert_false(is_read(arena, BLOB_BLOCK,
                         (struct content){ .id = 5, .block_count = CONTENT_BLOCKS_MAX + 1 }));
    assert_false(
        is_read(arena, BLOB_BLOCK, (struct content){ .id = 5, .length = CONTENT_LENGTH_MAX + 1 }));
    bad = pages;
    bad.stamp = 4;
    assert_false(is_read(arena, BLOB_PAGE, bad));
    bad = pages;
    bad.last_retained = 1;
    assert_false(is_read(arena, BLOB_PAGE, bad));
    bad = pages;
    bad.epoch = CONTENT_EPOCHS_MAX;
    assert_false(is_read(arena, BLOB_PAGE, bad));
    arena_free(arena);
}

/* Rule: a restored record does not have the id of the original's task. */
static void restored_totals_have_no_task(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct record record;
    struct read_view *view;
    struct bytes value;
    void *fixture = NULL;

    (void)state;
    fixture_setup(&fixture);
    assert_ok(ask(fixture, "PUT /box/b?comp=block&blockid=AAA%3D", NULL, "staged"), 201);
    view = open_blob(fixture);
    assert_int_equal(read_view_get(view, RECORD_INNER, bytes_from_string("U"), arena, &record), 0);
    read_view_close(view);
    record.key = bytes_from_string("U");
    value = blob_restore.without_lease(arena, RECORD_INNER, &record);
    assert_int_equal(value.len, record.value.len);
    assert_memory_equal(value.ptr, record.value.ptr, value.len - 16);
    assert_memory_equal(value.ptr + value.len - 16, (char[16]){ 0 }, 16);
    assert_memory_not_equal(record.value.ptr + value.len - 16, (char[16]){ 0 }, 16);
    record.key = bytes_from_string("v");
    assert_ptr_equal(blob_restore.without_lease(arena, RECORD_INNER, &record).ptr,
                     record.value.ptr);
    fixture_teardown(&fixture);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_that_do_not_fit_are_refused),
        cmocka_unit_test(blob_record),
        cmocka_unit_test(blob_record_version_2),
        cmocka_unit_test(blob_record_of_incremental_copy),
        cmocka_unit_test(blob_record_without_snapshots),
        cmocka_unit_test(snapshot_marks_record),
        cmocka_unit_test(snapshot_marks_record_of_several),
        cmocka_unit_test(blob_record_of_deleted),
        cmocka_unit_test(blob_record_of_versions),
        cmocka_unit_test(blob_record_of_copy),
        cmocka_unit_test(container_record),
        cmocka_unit_test(kept_container_record),
        cmocka_unit_test(hierarchical_container_record),
        cmocka_unit_test(restored_totals_have_no_task),
        cmocka_unit_test(other_forms_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
