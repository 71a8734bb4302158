/* Every field of a blob's and a container's record survives, next to others with any value. blob_record.c, container_record.c */
#include "fixture.h"

#include "../record_fields.h"
#include "base/codec.h"

static const struct field blob_fields[] = {
    VALUE(blob, type),
    VALUE(blob, uncommitted),
    VALUE(blob, nothing_staged),
    VALUE(blob, without_snapshots),
    VALUE(blob, has_deleted),
    VALUE(blob, deletion.at),
    VALUE(blob, deletion.expires),
    VALUE(blob, created),
    VALUE(blob, etag),
    VALUE(blob, modified),
    VALUE(blob, ref.kind),
    VALUE(blob, ref.at),
    LEASE_FIELDS(blob, lease),
    CONTENT_FIELDS(blob, content),
    HTTP_FIELDS(blob, http),
    VALUE(blob, encryption),
    TEXT(blob, metadata),
    SKIPPED(blob, metadata_is_encrypted), /* by the encryption */
    VALUE(blob, tier),
    VALUE(blob, tier_changed),
    VALUE(blob, rehydrates_to),
    VALUE(blob, is_rehydrated_fast),
    VALUE(blob, rehydrated_at),
    VALUE(blob, sequence_number),
    VALUE(blob, committed_blocks),
    VALUE(blob, is_sealed),
    TEXT(blob, tags),
    TEXT(blob, acl),
    TEXT(blob, deleted_path),
    VALUE(blob, expiry.at),
    VALUE(blob, expiry.task),
    TEXT(blob, encryption_context),
    VALUE(blob, immutability.mode),
    VALUE(blob, immutability.until),
    VALUE(blob, immutability.has_hold),
    VALUE(blob, accessed),
    COPY_FIELDS(blob, copy),
    VALUE(blob, incremental.is_one),
    VALUE(blob, incremental.is_whole),
    TEXT(blob, incremental.source),
    VALUE(blob, incremental.source_snapshot),
    VALUE(blob, incremental.snapshot),
    VALUE(blob, is_version),
    VALUE(blob, newest_version),
    VALUE(blob, last_length),
};

static void blob_trip(struct arena *arena, const void *from, void *to)
{
    struct text out;

    text_init(&out, arena, 64);
    blob_encode(&out, from);
    assert_true(blob_decode(text_bytes(&out), to));
}

static const struct record_form blob_form = RECORD_FORM(blob, blob_fields, blob_trip);

/* What every blob may have; the numbers begin with n. */
#define COMMON(n, md5_bytes, copied_as, flag)                                                      \
    .nothing_staged = flag, .without_snapshots = flag, .has_deleted = flag,                        \
    .deletion = { .at = n + 1, .expires = 1000000 + n }, .created = n + 3, .etag = { n + 4 },      \
    .modified = n + 5,                                                                             \
    .lease = { .id = { { n % 251, 1 } },                                                           \
               .kind = 1 + flag,                                                                   \
               .duration_s = 15 + flag,                                                            \
               .ends = n + 6 },                                                                    \
    .http = { .content_type = BYTES("type " #n),                                                   \
              .content_encoding = BYTES("encoding " #n),                                           \
              .content_language = BYTES("language " #n),                                           \
              .content_disposition = BYTES("disposition " #n),                                     \
              .cache_control = BYTES("cache " #n),                                                 \
              .has_md5 = true,                                                                     \
              .md5_size = md5_bytes,                                                               \
              .md5 = { 7, n % 249 } },                                                             \
    .encryption = { .by_customer = true, .key_hash = { 5, n % 239 } },                             \
    .metadata = BYTES("metadata with the overhead of its encryption " #n),                         \
    .metadata_is_encrypted = true, .tier_changed = n + 7, .rehydrated_at = n + 8,                  \
    .is_rehydrated_fast = flag, .sequence_number = n + 9, .committed_blocks = n + 10,              \
    .is_sealed = flag, .tags = BYTES("tags " #n), .acl = BYTES("acl " #n),                         \
    .deleted_path = BYTES("path " #n), .expiry = { .at = n + 16, .task = { { n % 241, 3 } } },     \
    .encryption_context = BYTES("context " #n),                                                    \
    .immutability = { .mode = POLICY_UNLOCKED + flag, .until = n + 17, .has_hold = flag },         \
    .accessed = n + 18,                                                                            \
    .copy = { .status = copied_as,                                                                 \
              .id = { { n % 247, 2 } },                                                            \
              .source = BYTES("source " #n),                                                       \
              .copied = n + 11,                                                                    \
              .total = n + 12,                                                                     \
              .completed = n + 13,                                                                 \
              .description = BYTES("description " #n) },                                           \
    .incremental = { .is_one = true,                                                               \
                     .is_whole = flag,                                                             \
                     .source = BYTES("path " #n),                                                  \
                     .source_snapshot = n + 14,                                                    \
                     .snapshot = n + 15 }

static const struct blob block_blobs[] = {
    { .type = BLOB_BLOCK,
      .tier = TIER_COOL,
      .rehydrates_to = TIER_HOT,
      .newest_version = 90,
      COMMON(1000, 16, COPY_FAILED, false),
      .content = { .id = 20, .length = 21, .block_count = 22 } },
    { .type = BLOB_BLOCK,
      .tier = TIER_COLD,
      .rehydrates_to = TIER_COLD,
      .newest_version = 91,
      .is_version = true,
      COMMON(30000, 16, COPY_SUCCESS, true),
      .content = { .id = 120,
                   .length = 121,
                   .block_count = 122,
                   .is_alone = true,
                   .without_pieces = true,
                   .has_runs = true,
                   .in_chain = true } },
};

/* The MD5 as it was given, not 16 bytes. */
static const struct blob page_blobs[] = {
    { .type = BLOB_PAGE,
      .tier = TIER_P10,
      .rehydrates_to = TIER_HOT,
      COMMON(1000, 2, COPY_ABORTED, false),
      .content = { .id = 20,
                   .length = 512,
                   .form = CONTENT_SPARSE,
                   .epoch = 9,
                   .last_retained = 7,
                   .stamp = 5000,
                   .sealed_at = 4000 } },
    { .type = BLOB_PAGE,
      .tier = TIER_P20,
      .rehydrates_to = TIER_COOL,
      COMMON(30000, 3, COPY_PENDING, true),
      .content = { .id = 120,
                   .length = 1024,
                   .form = CONTENT_SPARSE,
                   .is_alone = true,
                   .without_pieces = true,
                   .in_chain = true,
                   .has_units = true,
                   .has_holes = true,
                   .without_pages = true,
                   .epoch = 10,
                   .last_retained = 8,
                   .stamp = 5001,
                   .sealed_at = 4001 } },
};

/* Append blobs beside block blobs, a snapshot beside a version, an uncommitted blob: one difference each. */
static const struct blob kinds[] = {
    { .type = BLOB_BLOCK, .content = { .id = 1, .length = 2 } },
    { .type = BLOB_APPEND, .content = { .id = 1, .length = 2 } },
    { .type = BLOB_APPEND, .content = { .id = 1, .length = 2 } },
    { .type = BLOB_APPEND, .content = { .id = 1, .length = 2, .is_appended = true } },
    { .ref = { .kind = BLOB_SNAPSHOT, .at = 5 } },
    { .ref = { .kind = BLOB_VERSION, .at = 6 } },
    { .uncommitted = true, .newest_version = 5, .last_length = 6 },
    { .uncommitted = true, .newest_version = 7, .last_length = 8, .is_version = true },
    { .http = { .has_md5 = false } },
    { .http = { .has_md5 = true } },
    { .newest_version = 5 },
    { .newest_version = 5, .uncommitted = true },
    { .content = { .id = 1 } },
    { .type = BLOB_PAGE, .content = { .id = 1, .stamp = 1, .form = CONTENT_SPARSE } },
    { .copy.status = COPY_NONE },
    { .incremental.is_one = true },
};

static void blobs(void **state)
{
    const void *samples[4 + sizeof kinds / sizeof kinds[0]] = { &block_blobs[0], &block_blobs[1],
                                                                &page_blobs[0], &page_blobs[1] };
    size_t count = 4;

    (void)state;
    fields_survive(&blob_form, &block_blobs[0], &block_blobs[1]);
    fields_survive(&blob_form, &page_blobs[0], &page_blobs[1]);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i += 2) {
        struct arena *arena = arena_new(1u << 20);

        for (size_t k = i; k < i + 2; k++) {
            struct blob read;

            blob_trip(arena, &kinds[k], &read);
            for (size_t f = 0; f < sizeof blob_fields / sizeof blob_fields[0]; f++)
                if (blob_fields[f].kind == FIELD_VALUE)
                    assert_memory_equal((const char *)&read + blob_fields[f].at,
                                        (const char *)&kinds[k] + blob_fields[f].at,
                                        blob_fields[f].size);
            samples[count++] = &kinds[k];
        }
        arena_free(arena);
    }
    fields_all_differed(&blob_form, samples, count);
}

static const struct field container_fields[] = {
    VALUE(container, space),
    VALUE(container, created),
    VALUE(container, etag),
    VALUE(container, modified),
    LEASE_FIELDS(container, lease),
    VALUE(container, public_access),
    TEXT(container, metadata),
    TEXT(container, policies),
    VALUE(container, expires),
    VALUE(container, task),
    VALUE(container, hierarchical),
    TEXT(container, owner),
    VALUE(container, root.name),
    VALUE(container, root.is_shared),
    VALUE(container, immutability.has_versions),
    VALUE(container, immutability.mode),
    VALUE(container, immutability.days),
    VALUE(container, immutability.append),
    VALUE(container, immutability.extensions),
    TEXT(container, immutability.holds),
    VALUE(container, immutability.holds_append),
    VALUE(container, immutability.is_closed),
    TEXT(container, immutability.log),
};

static void container_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    const struct container *container = from;

    container_write_deleted(changes, arena, 5, container);
    assert_true(container_decode(
        written_record(arena, changes, RECORD_LISTED, container_record_key(arena, 5)), to));
}

static void containers(void **state)
{
    static const struct record_form form = RECORD_FORM(container, container_fields, container_trip);
    static const struct container samples[] = {
        { .space = { { 1 } },
          .created = 2,
          .etag = { 3 },
          .modified = 4,
          .lease = { .id = { { 5 } }, .kind = 1, .duration_s = 15, .ends = 6 },
          .public_access = ACCESS_BLOB,
          .metadata = BYTES("7"),
          .policies = BYTES("8"),
          .expires = 9,
          .task = { { 10 } },
          .hierarchical = true,
          .owner = BYTES("11"),
          .root = { { { 12 } }, true },
          .immutability = { .has_versions = false,
                            .mode = POLICY_UNLOCKED,
                            .days = 12,
                            .append = APPEND_TO_ALL,
                            .extensions = 13,
                            .holds = BYTES("14"),
                            .log = BYTES("15") } },
        { .space = { { 101 } },
          .created = 102,
          .etag = { 103 },
          .modified = 104,
          .lease = { .id = { { 105 } }, .kind = 2, .duration_s = 16, .ends = 106 },
          .public_access = ACCESS_CONTAINER,
          .metadata = BYTES("107"),
          .policies = BYTES("108"),
          .expires = 109,
          .task = { { 110 } },
          .hierarchical = true,
          .owner = BYTES("111"),
          .root = { { { 112 } }, false },
          .immutability = { .has_versions = true,
                            .mode = POLICY_LOCKED,
                            .days = 112,
                            .append = APPEND_TO_APPEND_BLOBS,
                            .extensions = 113,
                            .holds = BYTES("114"),
                            .holds_append = true,
                            .is_closed = true,
                            .log = BYTES("115") } },
        { .space = { { 1 } }, .created = 2, .etag = { 3 }, .modified = 4, .expires = 9 },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_survive(&form, &samples[2], &samples[2]);
    fields_all_differed(
        &form, (const void *const[]){ &samples[0], &samples[1], &samples[0], &samples[2] }, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blobs),
        cmocka_unit_test(containers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
