/* Every field of the records of shares, files, opens, locks and handles survives, next to others with any value.
 * share_record.c, file_record.c, open_record.c, open_index.c */
#include "file/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../record_fields.h"
#include "opens/open_record.h"

static const struct field share_fields[] = {
    VALUE(share, space),
    VALUE(share, generation),
    VALUE(share, created),
    VALUE(share, etag),
    VALUE(share, modified),
    LEASE_FIELDS(share, lease),
    VALUE(share, quota_gib),
    VALUE(share, tier),
    VALUE(share, tier_changed),
    VALUE(share, has_moved),
    VALUE(share, moved_from),
    VALUE(share, snapshots),
    VALUE(share, newest_snapshot),
    TEXT(share, metadata),
    TEXT(share, policies),
    VALUE(share, expires),
    VALUE(share, task),
    SKIPPED(share, at),
};

static void share_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    struct share_key key = { .deleted = 7, .snapshot = 8 }, read;
    struct bytes at = share_record_key(arena, key);

    share_write(changes, arena, key, from);
    assert_true(share_decode(at, written_record(arena, changes, RECORD_LISTED, at), to, &read));
    assert_true(read.deleted == 7 && read.snapshot == 8);
}

static void shares(void **state)
{
    static const struct record_form form = RECORD_FORM(share, share_fields, share_trip);
    static const struct share samples[] = {
        { .space = { { 1 } },
          .generation = 2,
          .created = 3,
          .etag = { 4 },
          .modified = 5,
          .lease = { .id = { { 6 } }, .kind = 1, .duration_s = 15, .ends = 7 },
          .quota_gib = 8,
          .tier = SHARE_COOL,
          .tier_changed = 9,
          .has_moved = true,
          .moved_from = SHARE_HOT,
          .snapshots = 10,
          .newest_snapshot = 11,
          .metadata = BYTES("12"),
          .policies = BYTES("13"),
          .expires = 14,
          .task = { { 15 } } },
        { .space = { { 101 } },
          .generation = 102,
          .created = 103,
          .etag = { 104 },
          .modified = 105,
          .lease = { .id = { { 106 } }, .kind = 2, .duration_s = 16, .ends = 107 },
          .quota_gib = 108,
          .tier = SHARE_HOT,
          .tier_changed = 109,
          .has_moved = true,
          .moved_from = SHARE_COOL,
          .snapshots = 110,
          .newest_snapshot = 111,
          .metadata = BYTES("112"),
          .policies = BYTES("113"),
          .expires = 114,
          .task = { { 115 } } },
    };
    static const struct share unmoved[] = {
        { .quota_gib = 1, .tier = SHARE_HOT },
        { .quota_gib = 1, .tier = SHARE_HOT, .has_moved = true },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_survive(&form, &unmoved[0], &unmoved[1]);
    fields_all_differed(
        &form, (const void *const[]){ &samples[0], &samples[1], &unmoved[0], &unmoved[1] }, 4);
}

static const struct field file_fields[] = {
    VALUE(file, kind),
    VALUE(file, etag),
    VALUE(file, modified),
    VALUE(file, attributes),
    VALUE(file, created),
    VALUE(file, accessed),
    VALUE(file, written),
    VALUE(file, changed),
    VALUE(file, permission),
    TEXT(file, metadata),
    VALUE(file, content.id),
    VALUE(file, content.length),
    SKIPPED(file, content.block_count), /* of sequences only, as the five that follow */
    SKIPPED(file, content.is_alone),
    SKIPPED(file, content.without_pieces),
    SKIPPED(file, content.has_runs),
    SKIPPED(file, content.in_chain),
    SKIPPED(file, content.is_appended),
    SKIPPED(file, content.form), /* always sparse */
    VALUE(file, content.has_units),
    VALUE(file, content.has_holes),
    VALUE(file, content.without_pages),
    VALUE(file, content.epoch),
    VALUE(file, content.last_retained),
    VALUE(file, content.stamp),
    VALUE(file, content.sealed_at),
    TEXT(file, http.content_type),
    TEXT(file, http.content_encoding),
    TEXT(file, http.content_language),
    TEXT(file, http.content_disposition),
    TEXT(file, http.cache_control),
    SKIPPED(file, http.has_md5), /* by its size */
    VALUE(file, http.md5_size),
    VALUE(file, http.md5),
    LEASE_FIELDS(file, lease),
    COPY_FIELDS(file, copy),
    SKIPPED(file, stored),
};

static void file_trip(struct arena *arena, const void *from, void *to)
{
    assert_true(file_decode(file_encode(arena, from), to));
}

static const struct file file_samples[] = {
    { .kind = TREE_FILE,
      .etag = { 1 },
      .modified = 2,
      .attributes = ATTRIBUTE_HIDDEN,
      .created = 3,
      .accessed = 4,
      .written = 5,
      .changed = 6,
      .permission = 7,
      .metadata = BYTES("8"),
      .content = { .form = CONTENT_SPARSE,
                   .id = 9,
                   .length = 10,
                   .epoch = 50,
                   .last_retained = 11,
                   .stamp = 5000,
                   .sealed_at = 12 },
      .http = { .content_type = BYTES("13"),
                .content_encoding = BYTES("14"),
                .content_language = BYTES("15"),
                .content_disposition = BYTES("16"),
                .cache_control = BYTES("17"),
                .has_md5 = true,
                .md5_size = 2,
                .md5 = { 18 } },
      .lease = { .id = { { 19 } }, .kind = 1, .duration_s = 15, .ends = 20 },
      .copy = { .status = COPY_SUCCESS,
                .id = { { 21 } },
                .source = BYTES("22"),
                .copied = 23,
                .total = 24,
                .completed = 25,
                .description = BYTES("26") } },
    { .kind = TREE_FILE,
      .etag = { 101 },
      .modified = 102,
      .attributes = ATTRIBUTE_READ_ONLY | ATTRIBUTE_SYSTEM,
      .created = 103,
      .accessed = 104,
      .written = 105,
      .changed = 106,
      .permission = 107,
      .metadata = BYTES("108"),
      .content = { .form = CONTENT_SPARSE,
                   .id = 109,
                   .length = 110,
                   .has_units = true,
                   .has_holes = true,
                   .without_pages = true,
                   .epoch = 51,
                   .last_retained = 13,
                   .stamp = 5001,
                   .sealed_at = 112 },
      .http = { .content_type = BYTES("113"),
                .content_encoding = BYTES("114"),
                .content_language = BYTES("115"),
                .content_disposition = BYTES("116"),
                .cache_control = BYTES("117"),
                .has_md5 = true,
                .md5_size = 3,
                .md5 = { 118 } },
      .lease = { .id = { { 119 } }, .kind = 2, .duration_s = 16, .ends = 120 },
      .copy = { .status = COPY_PENDING,
                .id = { { 121 } },
                .source = BYTES("122"),
                .copied = 123,
                .total = 124,
                .completed = 125,
                .description = BYTES("126") } },
};

static void files(void **state)
{
    static const struct record_form form = RECORD_FORM(file, file_fields, file_trip);
    static const struct file directories[] = {
        { .kind = TREE_DIRECTORY, .attributes = ATTRIBUTE_DIRECTORY, .etag = { 1 }, .modified = 2 },
        { .kind = TREE_DIRECTORY, .attributes = ATTRIBUTE_DIRECTORY, .etag = { 3 }, .modified = 4 },
    };

    (void)state;
    fields_survive(&form, &file_samples[0], &file_samples[1]);
    fields_survive(&form, &directories[0], &directories[1]);
    fields_all_differed(&form,
                        (const void *const[]){ &file_samples[0], &file_samples[1], &directories[0],
                                               &file_samples[0] },
                        4);
}

/* ---- opens ---- */

/* One open and the caching of its client. */
struct opened {
    struct open_entry open;
    struct caching_entry caching;
    bool is_delete_pending;
    size_t lock_count;
};

static const struct field open_fields[] = {
    VALUE(opened, open.id),
    SKIPPED(opened, open.epoch), /* one of this process: others are left out */
    VALUE(opened, open.open.access),
    VALUE(opened, open.open.share),
    VALUE(opened, open.open.meets),
    SKIPPED(opened, open.open.caching), /* an index */
    VALUE(opened, open.persists),
    VALUE(opened, open.deletes),
    VALUE(opened, open.timeout_ticks),
    VALUE(opened, open.disconnected_until),
    VALUE(opened, caching.key),
    VALUE(opened, caching.caching.holds),
    VALUE(opened, caching.caching.breaks_to),
    VALUE(opened, caching.caching.is_oplock),
    VALUE(opened, caching.reported),
    VALUE(opened, caching.epoch),
    VALUE(opened, is_delete_pending),
    VALUE(opened, lock_count),
};

/* It is the last of three opens, with the second of two cachings. */
static void open_trip(struct arena *arena, const void *from, void *to)
{
    const struct opened *in = from;
    struct opened *out = to;
    struct changes *changes = changes_new(arena);
    struct open_entry opens[] = { { .id = 1, .epoch = open_epoch() },
                                  { .id = 2, .epoch = open_epoch(), .open.caching = NO_CACHING },
                                  in->open };
    struct caching_entry cachings[] = { { .key = { { 99 } } }, in->caching };
    struct open_set set = { .opens = opens,
                            .open_count = 3,
                            .cachings = cachings,
                            .caching_count = 2,
                            .is_delete_pending = in->is_delete_pending,
                            .lock_count = in->lock_count };

    opens[2].epoch = open_epoch();
    opens[2].open.caching = 1;
    open_set_write(changes, arena, &set);
    assert_true(open_set_decode(
        arena, written_record(arena, changes, RECORD_INNER, bytes_from_string("g")), 0, 1, &set));
    assert_int_equal(set.open_count, 3);
    assert_int_equal(set.opens[0].id, 1);
    assert_int_equal(set.caching_count, 2);
    assert_true(set.opens[2].epoch == open_epoch());
    *out = (struct opened){ .open = set.opens[2],
                            .caching = set.cachings[set.opens[2].open.caching],
                            .is_delete_pending = set.is_delete_pending,
                            .lock_count = set.lock_count };
}

static void opens(void **state)
{
    static const struct record_form form = RECORD_FORM(opened, open_fields, open_trip);
    static const struct opened samples[] = {
        { .open = { .id = 10,
                    .open = { .access = ACCESS_READ, .share = ACCESS_WRITE, .meets = 1 },
                    .persists = true,
                    .timeout_ticks = 11,
                    .disconnected_until = 12 },
          .caching = { .key = { { 13 } },
                       .caching = { .holds = CACHING_READ | CACHING_WRITE,
                                    .breaks_to = CACHING_READ },
                       .reported = CACHING_READ | CACHING_WRITE,
                       .epoch = 14 },
          .lock_count = 15 },
        { .open = { .id = 110,
                    .open = { .access = ACCESS_WRITE, .share = ACCESS_READ, .meets = 2 },
                    .persists = true,
                    .deletes = true,
                    .timeout_ticks = 111,
                    .disconnected_until = 112 },
          .caching = { .key = { { 113 } },
                       .caching = { .holds = CACHING_ALL, .breaks_to = 0, .is_oplock = true },
                       .reported = CACHING_READ,
                       .epoch = 114 },
          .is_delete_pending = true,
          .lock_count = 115 },
    };
    static const struct opened transient[] = {
        { .open = { .id = 10, .disconnected_until = 5 } },
        { .open = { .id = 10, .persists = true, .disconnected_until = 5 } },
    };

    (void)state;
    open_epoch_begin();
    fields_survive(&form, &samples[0], &samples[1]);
    fields_survive(&form, &transient[0], &transient[1]);
    fields_all_differed(
        &form, (const void *const[]){ &samples[0], &samples[1], &transient[0], &transient[1] }, 4);
}

static const struct field lock_fields[] = {
    VALUE(byte_lock, range.offset),
    VALUE(byte_lock, range.length),
    VALUE(byte_lock, owner),
    VALUE(byte_lock, is_exclusive),
};

static void lock_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    struct byte_lock locks[2] = { { .owner = 1 } }, *read;
    size_t count;

    memcpy(&locks[1], from, sizeof locks[1]);
    byte_locks_write(changes, arena, locks, 2);
    assert_true(byte_locks_decode(
        arena, written_record(arena, changes, RECORD_INNER, bytes_from_string("k")), &read,
        &count));
    assert_int_equal(count, 2);
    assert_int_equal(read[0].owner, 1);
    memcpy(to, &read[1], sizeof read[1]);
}

static void locks(void **state)
{
    static const struct record_form form = RECORD_FORM(byte_lock, lock_fields, lock_trip);
    static const struct byte_lock samples[] = {
        { .range = { .offset = 10, .length = 11 }, .owner = 12 },
        { .range = { .offset = 110, .length = 111 }, .owner = 112, .is_exclusive = true },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

static const struct field handle_fields[] = {
    VALUE(handle, node),
    VALUE(handle, id),
    VALUE(handle, epoch),
    VALUE(handle, persists),
    VALUE(handle, access),
    VALUE(handle, session),
    TEXT(handle, client_address),
    TEXT(handle, client_name),
    VALUE(handle, opened),
    VALUE(handle, reconnected),
    VALUE(handle, disconnected_until),
    VALUE(handle, durable.ticks),
    VALUE(handle, durable.granted),
    VALUE(handle, durable.times.keeps_accessed),
    VALUE(handle, durable.times.keeps_written),
    VALUE(handle, durable.times.keeps_changed),
    VALUE(handle, durable.times.shown_written),
    VALUE(handle, durable.times.shown_until),
    VALUE(handle, durable.times.has_written),
    TEXT(handle, durable.of_client),
};

static void handle_trip(struct arena *arena, const void *from, void *to)
{
    const struct handle *handle = from;
    struct changes *changes = changes_new(arena);
    struct bytes key = handle_key(arena, handle->node, handle->id);
    uint64_t node;

    handle_put(changes, arena, handle);
    assert_true(handle_decode(key, written_index(arena, changes, key), to));
    assert_true(handle_reconnect_decode(
        written_index(arena, changes, handle_reconnect_key(arena, handle->id)), &node));
    assert_int_equal(node, handle->node);
}

static void handles(void **state)
{
    static const struct record_form form = RECORD_FORM(handle, handle_fields, handle_trip);
    static const struct handle samples[] = {
        { .node = 1,
          .id = 2,
          .epoch = 3,
          .access = ACCESS_READ,
          .session = 4,
          .client_address = BYTES("5"),
          .client_name = BYTES("6"),
          .opened = 7,
          .reconnected = 8,
          .disconnected_until = 9,
          .durable = { .ticks = 10,
                       .granted = 11,
                       .times = { .shown_written = 12, .shown_until = 13 },
                       .of_client = BYTES("14") } },
        { .node = 101,
          .id = 102,
          .epoch = 103,
          .persists = true,
          .access = ACCESS_WRITE,
          .session = 104,
          .client_address = BYTES("105"),
          .client_name = BYTES("106"),
          .opened = 107,
          .reconnected = 108,
          .disconnected_until = 109,
          .durable = { .ticks = 110,
                       .granted = 3,
                       .times = { .keeps_accessed = true,
                                  .keeps_written = true,
                                  .keeps_changed = true,
                                  .shown_written = 112,
                                  .shown_until = 113,
                                  .has_written = true },
                       .of_client = BYTES("114") } },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares), cmocka_unit_test(files),   cmocka_unit_test(opens),
        cmocka_unit_test(locks),  cmocka_unit_test(handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
