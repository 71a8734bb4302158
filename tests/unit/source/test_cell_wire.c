/* Messages about copy sources in other cells: source/cell_wire.h. Messages are read as they were written; truncated, extended and
 * damaged ones never exceed the limits of what they contain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/codec.h"
#include "source/cell_wire.h"
#include "source/page_walk.h"

#define ARENA_BYTES ((size_t)64 << 20)

static struct bytes write_request(struct arena *arena)
{
    const struct cell_request request = {
        .read = CELL_READS_STEP,
        .service = BYTES("blob"),
        .placement = 7,
        .account = BYTES("account"),
        .by_key = true,
        .peer = BYTES("127.0.0.1"),
        .source = { .rule = SOURCE_COPIED,
                    .text = BYTES("http://h/account/c/b"),
                    .headers = { { .name = BYTES("if-match"), .value = BYTES("*") },
                                 { .name = BYTES("x-ms-tags"), .value = BYTES("") } },
                    .header_count = 2,
                    .reads_tags = true },
        .etag = BYTES("\"0x1\""),
        .position = UINT64_MAX,
        .previous = 5,
    };
    struct text out;

    text_init(&out, arena, 0);
    cell_request_write(&out, &request);
    return text_bytes(&out);
}

static struct bytes write_head(struct arena *arena)
{
    const struct content_block blocks[] = { { .block_id = BYTES("MQ=="), .length = 3 },
                                            { .block_id = BYTES("Mg=="), .length = 4 } };
    const struct content_range ranges[] = { { .start = 0, .end = 512 },
                                            { .start = 512, .end = 1024, .is_hole = true } };
    const struct cell_head head = {
        .operation = BYTES("GetBlob"),
        .result = BYTES("result"),
        .account = BYTES("account"),
        .by_key = true,
        .offset = 1,
        .length = 6,
        .layout = { .blocks = blocks, .block_count = 2, .ranges = ranges, .range_count = 2 },
        .next = 1024,
    };
    struct text out;

    text_init(&out, arena, 0);
    cell_head_write(&out, &head);
    return text_bytes(&out);
}

static struct bytes write_error(struct arena *arena)
{
    struct cell_head head = {
        .error = E_CannotVerifyCopySource,
        .problem = { .detail = "detail",
                     .message = BYTES(""),
                     .source_status = 404,
                     .source_code = BYTES("BlobNotFound"),
                     .length = 9,
                     .is_soft_deleted = true,
                     .elsewhere = { .cell = 3, .incarnation = 8 } },
    };
    struct text out;

    problem_set_header(&head.problem, "x-ms-copy-source", bytes_from_string("http://h"));
    text_init(&out, arena, 0);
    cell_head_write(&out, &head);
    return text_bytes(&out);
}

static bool reads_request(struct arena *arena, struct bytes text)
{
    struct cell_request request;

    (void)arena;
    if (!cell_request_read(text, &request))
        return false;
    assert_true(request.read < CELL_READS);
    assert_true(request.source.rule <= SOURCE_COPIED);
    assert_true(request.source.header_count <= SOURCE_HEADERS_MAX);
    return true;
}

static bool reads_head(struct arena *arena, struct bytes text)
{
    struct cell_head head;

    if (!cell_head_read(arena, text, &head))
        return false;
    assert_true(head.error < ERROR_COUNT);
    assert_true(head.problem.field_count <= PROBLEM_FIELDS_MAX);
    assert_in_range(head.problem.source_status, 0, 599);
    assert_true(head.problem.elsewhere.cell <= PLACEMENT_CELL_MAX);
    assert_true(head.layout.block_count <= text.len && head.layout.range_count <= text.len);
    return true;
}

static const struct {
    struct bytes (*write)(struct arena *arena);
    bool (*reads)(struct arena *arena, struct bytes text);
} messages[] = { { write_request, reads_request },
                 { write_head, reads_head },
                 { write_error, reads_head } };

#define MESSAGES (sizeof messages / sizeof messages[0])

static void request_as_written(void **state)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct cell_request request;

    (void)state;
    assert_true(cell_request_read(write_request(arena), &request));
    assert_int_equal(request.read, CELL_READS_STEP);
    assert_true(bytes_is(request.service, "blob"));
    assert_int_equal(request.placement, 7);
    assert_true(bytes_is(request.account, "account"));
    assert_true(request.by_key && !request.is_forwarded);
    assert_true(bytes_is(request.peer, "127.0.0.1"));
    assert_int_equal(request.source.rule, SOURCE_COPIED);
    assert_true(bytes_is(request.source.url.path, "/account/c/b"));
    assert_null(request.source.range.ptr);
    assert_int_equal(request.source.header_count, 2);
    assert_true(bytes_is(request.source.headers[0].name, "if-match"));
    assert_non_null(request.source.headers[1].value.ptr);
    assert_int_equal(request.source.headers[1].value.len, 0);
    assert_true(request.source.reads_tags);
    assert_true(bytes_is(request.etag, "\"0x1\""));
    assert_true(request.position == UINT64_MAX);
    assert_int_equal(request.previous, 5);
    arena_free(arena);
}

static void head_as_written(void **state)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct cell_head head;

    (void)state;
    assert_true(cell_head_read(arena, write_head(arena), &head));
    assert_int_equal(head.error, OK);
    assert_true(bytes_is(head.operation, "GetBlob") && bytes_is(head.result, "result"));
    assert_true(bytes_is(head.account, "account") && head.by_key);
    assert_int_equal(head.offset, 1);
    assert_int_equal(head.length, 6);
    assert_int_equal(head.layout.block_count, 2);
    assert_true(bytes_is(head.layout.blocks[1].block_id, "Mg=="));
    assert_int_equal(head.layout.blocks[1].length, 4);
    assert_int_equal(head.layout.range_count, 2);
    assert_int_equal(head.layout.ranges[1].end, 1024);
    assert_true(head.layout.ranges[1].is_hole && !head.layout.ranges[0].is_hole);
    assert_int_equal(head.next, 1024);
    arena_free(arena);
}

static void error_as_written(void **state)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct cell_head head;
    struct problem *problem = &head.problem;

    (void)state;
    assert_true(cell_head_read(arena, write_error(arena), &head));
    assert_int_equal(head.error, E_CannotVerifyCopySource);
    assert_string_equal(problem->detail, "detail");
    assert_int_equal(problem->field_count, 2);
    assert_string_equal(problem->fields[0].name, "HeaderName");
    assert_true(bytes_is(problem->fields[1].value, "http://h"));
    assert_true(problem->message.ptr && problem->message.len == 0);
    assert_int_equal(problem->source_status, 404);
    assert_true(bytes_is(problem->source_code, "BlobNotFound"));
    assert_null(problem->source_message.ptr);
    assert_int_equal(problem->length, 9);
    assert_true(problem->is_soft_deleted);
    assert_int_equal(problem->elsewhere.cell, 3);
    assert_int_equal(problem->elsewhere.incarnation, 8);
    arena_free(arena);
}

static void truncated_and_extended(void **state)
{
    struct arena *arena = arena_new(ARENA_BYTES);

    (void)state;
    for (size_t i = 0; i < MESSAGES; i++) {
        struct bytes text = messages[i].write(arena);
        struct text more;

        for (size_t length = 0; length < text.len; length++)
            assert_false(messages[i].reads(arena, bytes_of(text.ptr, length)));
        text_init(&more, arena, 0);
        text_add(&more, text);
        text_add_char(&more, '\0');
        assert_false(messages[i].reads(arena, text_bytes(&more)));
    }
    arena_free(arena);
}

/* Every byte of a message with every value: lengths and counts among them. */
static void damaged(void **state)
{
    struct arena *arena = arena_new(ARENA_BYTES);

    (void)state;
    for (size_t i = 0; i < MESSAGES; i++) {
        struct bytes text = messages[i].write(arena);
        char *copy = arena_bytes(arena, text.len);

        for (size_t at = 0; at < text.len; at++)
            for (int byte = 0; byte < 256; byte++) {
                struct arena_mark mark = arena_mark(arena);

                memcpy(copy, text.ptr, text.len);
                copy[at] = (char)byte;
                (void)messages[i].reads(arena, bytes_of(copy, text.len));
                arena_rewind(arena, mark);
            }
    }
    arena_free(arena);
}

/* A head with these counts, and enough bytes after them. */
static bool reads_counts(struct arena *arena, uint64_t blocks, uint64_t ranges)
{
    struct cell_head head = { .operation = BYTES("GetBlob") };
    struct text out;
    size_t tail;

    text_init(&out, arena, 0);
    cell_head_write(&out, &head);
    tail = 3; /* the two counts and `next` */
    out.len -= tail;
    encode_u64(&out, blocks);
    for (uint64_t i = 0; i < blocks && i <= CONTENT_BLOCKS_MAX; i++) {
        encode_bytes(&out, bytes_of("MQ==", 4));
        encode_u64(&out, 1);
    }
    encode_u64(&out, ranges);
    for (uint64_t i = 0; i < ranges && i <= PAGES_STEP_RANGES; i++) {
        encode_u64(&out, i);
        encode_u64(&out, i + 1);
        encode_u8(&out, 0);
    }
    encode_u64(&out, 0);
    return reads_head(arena, text_bytes(&out));
}

static void counts_beyond_their_limits(void **state)
{
    struct arena *arena = arena_new(ARENA_BYTES);

    (void)state;
    assert_true(reads_counts(arena, 0, 0));
    assert_true(reads_counts(arena, CONTENT_BLOCKS_MAX, PAGES_STEP_RANGES));
    assert_false(reads_counts(arena, CONTENT_BLOCKS_MAX + 1, 0));
    assert_false(reads_counts(arena, 0, PAGES_STEP_RANGES + 1));
    assert_false(reads_counts(arena, UINT64_MAX, 0));
    assert_false(reads_counts(arena, 0, UINT64_MAX));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_as_written),
        cmocka_unit_test(head_as_written),
        cmocka_unit_test(error_as_written),
        cmocka_unit_test(truncated_and_extended),
        cmocka_unit_test(damaged),
        cmocka_unit_test(counts_beyond_their_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
