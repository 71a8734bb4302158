/* Encrypted content: any range of it in reads of any size, with its key only. content.h:
 * content_reader_set_key() */
#include "fixture.h"

#include <stdlib.h>

#include "base/sleeper.h"

static const uint8_t key[DATA_KEY_SIZE] = "the key of these tests, 32 bytes";
static const uint8_t other_key[DATA_KEY_SIZE] = "another key, which has 32 bytes.";

/* Stages bytes, encrypted. */
static struct body stage_encrypted(struct fixture *f, struct bytes data)
{
    struct stage *stage = stage_open(f->store, data.len);
    struct body body = { .length = data.len };
    struct sleeper sleeper;
    size_t taken = 0;

    sleeper_init(&sleeper);
    stage_encrypt(stage, key);
    for (size_t at = 0; at < data.len; at += taken) {
        taken = 0;
        if (stage_write(stage, bytes_from(data, at), sleeper_arm(&sleeper), &taken) == STORE_WAIT)
            sleeper_wait(&sleeper);
    }
    while (stage_finish(stage, sleeper_arm(&sleeper)) == STORE_WAIT)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    body.pieces = stage_pieces(stage, &body.piece_count);
    assert_true(f->stage_count < FIXTURE_STAGES_MAX);
    f->stages[f->stage_count++] = stage;
    return body;
}

static enum store_result read(struct fixture *f, const struct content *content, const uint8_t *with,
                              uint64_t offset, uint64_t length, size_t max, char *to)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct content_reader *reader =
        content_reader_open(f->store, snapshot, f->arena, content, offset, length);
    enum store_result result = STORE_OK;
    struct piece_file file;
    bool in_file = true;
    size_t got = 0;

    if (with)
        content_reader_set_key(reader, with);
    if (length > 0 && max % 2 == 0) { /* as an answer does: never from the file */
        result = content_reader_begin(reader, NULL, &file, &in_file);
        assert_true(result || !in_file);
    }
    while (!result && got < length) {
        size_t count = 0;

        result = content_reader_read(reader, to + got, max, NULL, &count);
        assert_true(result || (count > 0 && count <= max && count <= length - got));
        got += count;
    }
    content_reader_close(reader);
    return result;
}

/* Random ranges, in reads of random sizes, are the bytes. */
static void expect(struct fixture *f, const struct content *content, struct bytes expected)
{
    char *to = malloc(expected.len + 1);

    assert_int_equal(content->length, expected.len);
    for (int i = 0; i < 60; i++) {
        uint64_t offset = i == 0 ? 0 : fixture_random(f, expected.len);
        uint64_t length = i == 0 ? expected.len : fixture_random(f, expected.len - offset) + 1;
        size_t max = i % 3 == 0 ? 1 + (size_t)fixture_random(f, 3000)
                                : 1 + (size_t)fixture_random(f, 300000);
        struct arena_mark mark = arena_mark(f->arena);

        assert_int_equal(read(f, content, key, offset, length, max, to), STORE_OK);
        assert_memory_equal(to, expected.ptr + offset, length);
        arena_rewind(f->arena, mark);
    }
    assert_int_equal(read(f, content, other_key, 0, expected.len, 70000, to), STORE_CORRUPT);
    assert_int_equal(read(f, content, NULL, expected.len / 2, 1, 1, to), STORE_CORRUPT);
    free(to);
}

/* Rule: content of a body. */
static void content_of_a_body(void **state)
{
    static const size_t lengths[] = { 1, 100, 65536, 65537, 1000000, (5u << 20) + 77 };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct bytes data = fixture_random_bytes(f, lengths[i]);
        struct body body;
        struct content content;

        fixture_begin(f);
        body = stage_encrypted(f, data);
        content = content_from_body(f->changes, 100 + i, &body);
        fixture_commit(f);
        expect(f, &content, data);
    }
}

/* Rule: appended bytes, each with a piece of its own. */
static void appended_content(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, 300000);
    struct content content = { .id = 0 };
    size_t at = 0;

    while (at < data.len) {
        size_t size = 1 + (size_t)fixture_random(f, 30000);
        struct body body;

        if (size > data.len - at)
            size = data.len - at;
        fixture_begin(f);
        body = stage_encrypted(f, bytes_of(data.ptr + at, size));
        content_append(f->changes, 100, &content, &body);
        fixture_commit(f);
        at += size;
    }
    expect(f, &content, data);
}

/* Rule: sparse content, whose parts are anywhere in their pieces; holes are zeros without a key. */
static void sparse_content(void **state)
{
    struct fixture *f = *state;
    const size_t length = 1u << 20;
    char *expected = calloc(1, length), *to = malloc(length);
    struct content content = content_sparse(50, length);
    bool more = false;

    for (uint64_t stamp = 50; stamp < 90; stamp++) {
        uint64_t offset = fixture_random(f, length / 512) * 512;
        uint64_t size = (1 + fixture_random(f, 200)) * 512;

        if (size > length - offset)
            size = length - offset;
        fixture_begin(f);
        if (stamp % 5 == 4) {
            assert_int_equal(content_clear(f->before, f->changes, f->arena, &content, stamp, offset,
                                           size, &more),
                             STORE_OK);
            memset(expected + offset, 0, size);
        } else {
            struct bytes data = fixture_random_bytes(f, size);
            struct body body = stage_encrypted(f, data);

            assert_int_equal(
                content_write(f->before, f->changes, f->arena, &content, stamp, offset, &body),
                STORE_OK);
            memcpy(expected + offset, data.ptr, size);
        }
        fixture_commit(f);
    }
    for (int i = 0; i < 100; i++) {
        uint64_t offset = fixture_random(f, length), size = 1 + fixture_random(f, length - offset);

        assert_int_equal(read(f, &content, key, offset, size, 1 + fixture_random(f, 100000), to),
                         STORE_OK);
        assert_memory_equal(to, expected + offset, size);
    }
    free(expected);
    free(to);
}

/* Rule: a block has what it is encrypted with, next to any other member. */
static void blocks_say_their_encryption(void **state)
{
    struct fixture *f = *state;
    struct content_block block = { .length = 5, .run = 7, .encryption = BYTES("name") }, read_block;
    struct record record = { .piece_count = 0 };
    struct text out;

    for (int i = 0; i < 2; i++) {
        text_init(&out, f->arena, 64);
        content_block_encode(&out, &block);
        record.value = text_bytes(&out);
        assert_true(content_block_decode(&record, &read_block));
        assert_int_equal(read_block.run, 7);
        assert_int_equal(read_block.length, 5);
        assert_true(bytes_equal(read_block.encryption, block.encryption));
        assert_int_equal(read_block.encryption.ptr != NULL, i == 0);
        for (size_t cut = 1; cut < record.value.len; cut++) {
            const struct record shorter = { .value = { record.value.ptr, cut } };

            assert_false(content_block_decode(&shorter, &read_block));
        }
        block.encryption = bytes_of(NULL, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(content_of_a_body, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(appended_content, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(sparse_content, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(blocks_say_their_encryption, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
