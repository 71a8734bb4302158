/* Readers and writers of SMB2 messages: what was written is read, and nothing outside of a
 * message is touched. wire.h; ms-smb2: 2.2 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "smb_protocol/wire.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int set_up(void **state)
{
    *state = arena_new(1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static struct wire_writer writer(struct arena *arena, struct text *out)
{
    struct wire_writer w;

    text_init(out, arena, 16);
    text_add_string(out, "before"); /* another message of the compound */
    wire_writer_init(&w, out);
    return w;
}

static struct bytes written(const struct wire_writer *w)
{
    return bytes_of(w->out->ptr + w->start, wire_place(w));
}

/* Each kind of value in its order of bytes. */
static void test_values(void **state)
{
    static const uint8_t expected[] = { 0x12, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 0,
                                        8,    7,    6,    5,    4,    3,    2,    1 };
    struct text out;
    struct wire_writer w = writer(*state, &out);
    struct guid guid = { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } }, again;
    struct wire_reader r;

    wire_put_u8(&w, 0x12);
    wire_put_u16(&w, 0x1234);
    wire_put_u32(&w, 0x12345678);
    wire_put_padding(&w, 8);
    wire_put_padding(&w, 8);
    wire_put_u64(&w, 0x0102030405060708);
    assert_int_equal(wire_place(&w), sizeof expected);
    assert_memory_equal(written(&w).ptr, expected, sizeof expected);
    wire_put_guid(&w, &guid);
    wire_put(&w, bytes_from_string("skipped"));
    wire_put_u8(&w, 0xFF);

    wire_reader_init(&r, written(&w));
    assert_int_equal(wire_u8(&r), 0x12);
    assert_int_equal(wire_u16(&r), 0x1234);
    assert_int_equal(wire_u32(&r), 0x12345678);
    wire_pass_padding(&r, 8);
    wire_pass_padding(&r, 8);
    assert_int_equal(wire_u64(&r), 0x0102030405060708);
    again = wire_guid(&r);
    assert_memory_equal(&again, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20", 16);
    wire_skip(&r, strlen("skipped"));
    assert_int_equal(wire_u8(&r), 0xFF);
    assert_true(wire_ok(&r));
    assert_int_equal(wire_left(&r), 0);
    wire_pass_padding(&r, 32);
    assert_true(wire_ok(&r));
}

/* What is known later is put where it belongs, in this message. */
static void test_set(void **state)
{
    static const uint8_t expected[] = { 0xCD, 0xAB, 4, 3, 2, 1 };
    struct text out;
    struct wire_writer w = writer(*state, &out);

    wire_put_zeros(&w, 6);
    wire_set_u16(&w, 0, 0xABCD);
    wire_set_u32(&w, 2, 0x01020304);
    assert_memory_equal(written(&w).ptr, expected, sizeof expected);
    assert_true(bytes_has_prefix(text_bytes(&out), bytes_from_string("before")));
    wire_set_u32(&w, 0, 0xFFFFFFFF);
    out.len -= 6; /* taken back, and written again */
    wire_put_zeros(&w, 6);
    assert_memory_equal(written(&w).ptr, "\0\0\0\0\0", 6);
}

/* A message that is cut marks the reader, which then returns nothing any more. */
static void test_short(void **state)
{
    static const char message[] = { 1, 2, 3 };
    struct wire_reader r;

    (void)state;
    wire_reader_init(&r, bytes_of(message, sizeof message));
    assert_int_equal(wire_u16(&r), 0x0201);
    assert_int_equal(wire_u16(&r), 0);
    assert_false(wire_ok(&r));
    assert_int_equal(wire_left(&r), 0);
    assert_int_equal(wire_u8(&r), 0);
    assert_int_equal(wire_bytes(&r, 1).len, 0);
    assert_int_equal(wire_buffer(&r, 0, 1, 0).len, 0);
}

/* Buffers and places that a message names: all of it inside, behind its fixed part. The offset
 * of an empty one is not looked at. */
static void test_buffers(void **state)
{
    static const struct {
        size_t offset, length;
        bool ok;
    } cases[] = {
        { 8, 8, true },
        { 15, 1, true },
        { 16, 0, true },
        { 0, 0, true },
        { SIZE_MAX, 0, true },
        { 7, 1, false },
        { 8, 9, false },
        { 16, 1, false },
        { SIZE_MAX, 1, false },
        { 8, SIZE_MAX, false },
        { 9, SIZE_MAX - 8, false },
    };
    static const char message[16] = "0123456789ABCDEF";
    struct wire_reader r;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bytes got;

        wire_reader_init(&r, bytes_of(message, sizeof message));
        got = wire_buffer(&r, cases[i].offset, cases[i].length, 8);
        assert_non_null(got.ptr);
        assert_int_equal(wire_ok(&r), cases[i].ok);
        assert_int_equal(got.len, cases[i].ok ? cases[i].length : 0);
        if (got.len > 0)
            assert_ptr_equal(got.ptr, message + cases[i].offset);
    }
    for (size_t offset = 0; offset < 20; offset++) {
        wire_reader_init(&r, bytes_of(message, sizeof message));
        wire_seek(&r, offset, 8);
        assert_int_equal(wire_ok(&r), offset >= 8 && offset <= 16);
    }
}

/* Names both ways, also beyond the BMP; a surrogate alone is none. ms-dtyp: 2.1 */
static void test_names(void **state)
{
    static const struct {
        const char *utf8; /* NULL: refused */
        const char *utf16;
        size_t size;
    } cases[] = {
        { "", "", 0 },
        { "a\\B", "a\0\\\0B", 6 },
        { "\xC3\xA9\xE2\x82\xAC", "\xE9\0\xAC\x20", 4 },
        { "\xF0\x9F\x98\x80!", "\x3D\xD8\x00\xDE!", 6 },
        { "\xF4\x8F\xBF\xBF", "\xFF\xDB\xFF\xDF", 4 },
        { "\xF0\x90\x80\x80\xEE\x80\x80", "\x00\xD8\x00\xDC\x00\xE0", 6 },
        { "\xED\x9F\xBF", "\xFF\xD7", 2 },
        { NULL, "a", 1 },
        { NULL, "\x00\xDC", 2 },
        { NULL, "\xFF\xDF", 2 },
        { NULL, "\xFF\xDB\x00\xE0", 4 },
        { NULL, "\x3D\xD8", 2 },
        { NULL, "\x3D\xD8\x41\x00", 4 },
        { NULL, "\x3D\xD8\x3D\xD8", 4 },
        { NULL, "\x00\xDE", 2 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text out;
        struct wire_writer w = writer(*state, &out);
        struct bytes utf8;
        bool ok = wire_utf8(*state, bytes_of(cases[i].utf16, cases[i].size), &utf8);

        assert_int_equal(ok, cases[i].utf8 != NULL);
        if (!ok)
            continue;
        assert_true(bytes_is(utf8, cases[i].utf8));
        wire_put_utf16(&w, utf8);
        assert_true(bytes_equal(written(&w), bytes_of(cases[i].utf16, cases[i].size)));
    }
}

/* ms-dtyp: 2.3.3; 116444736000000000 is the FILETIME of 1970. */
static void test_times(void **state)
{
    (void)state;
    assert_int_equal(filetime_of(INSTANT_UNIX_EPOCH), 116444736000000000);
    assert_int_equal(filetime_instant(116444736000000000), INSTANT_UNIX_EPOCH);
    assert_int_equal(filetime_of(0), 0);
    assert_int_equal(filetime_of(FILETIME_EPOCH - 1), 0);
    assert_int_equal(filetime_instant(0), 0);
    assert_int_equal(filetime_instant(UINT64_MAX), 0);
    assert_int_equal(filetime_of(filetime_instant(INT64_MAX)), INT64_MAX);
}

static const struct smb_header header = {
    .credit_charge = 2,
    .status = 0xC0000022,
    .command = SMB_CREATE,
    .credits = 31,
    .flags = SMB_FLAG_RESPONSE | SMB_FLAG_SIGNED,
    .next_command = 0x88,
    .message_id = 0x1122334455667788,
    .process_id = 0xFEFF,
    .tree_id = 5,
    .session_id = 0x99,
    .signature = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};

/* The fields at their places, in both forms. ms-smb2: 2.2.1.1, 2.2.1.2 */
static void test_header(void **state)
{
    struct smb_header async = header, again;

    async.flags |= SMB_FLAG_ASYNC;
    async.async_id = 0x7766554433221100;
    async.process_id = async.tree_id = 0;
    for (int i = 0; i < 2; i++) {
        const struct smb_header *h = i == 0 ? &header : &async;
        struct text out;
        struct wire_writer w = writer(*state, &out);
        struct wire_reader r;

        smb_header_write(&w, h);
        assert_int_equal(written(&w).len, SMB_HEADER_SIZE);
        assert_memory_equal(written(&w).ptr, "\xFESMB\x40\0\x02\0\x22\0\0\xC0\x05\0\x1F\0", 16);
        assert_memory_equal(written(&w).ptr + 32,
                            i == 0 ? "\xFF\xFE\0\0\x05\0\0\0" : "\0\x11\"3DUfw", 8);
        assert_memory_equal(written(&w).ptr + SMB_SIGNATURE_AT, header.signature, 16);
        wire_reader_init(&r, written(&w));
        assert_true(smb_header_read(&r, &again));
        assert_int_equal(r.at, SMB_HEADER_SIZE);
        assert_memory_equal(&again, h, sizeof again);
    }
}

/* Neither less than a header, nor another protocol's, nor another size. */
static void test_bad_headers(void **state)
{
    struct text out;
    struct wire_writer w = writer(*state, &out);
    struct smb_header got;
    struct wire_reader r;
    char changed[SMB_HEADER_SIZE];

    smb_header_write(&w, &header);
    for (size_t size = 0; size < SMB_HEADER_SIZE; size++) {
        wire_reader_init(&r, bytes_of(written(&w).ptr, size));
        assert_false(smb_header_read(&r, &got));
    }
    for (size_t at = 0; at < 6; at++) {
        memcpy(changed, written(&w).ptr, sizeof changed);
        changed[at] ^= 1;
        wire_reader_init(&r, bytes_of(changed, sizeof changed));
        assert_false(smb_header_read(&r, &got));
    }
}

/* The transform header: its fields, its flag, and the size it names. ms-smb2: 2.2.41 */
static void test_transform(void **state)
{
    struct smb_transform t = { .size = 3, .session_id = 0x0102030405060708 }, again;
    uint8_t frame[SMB_TRANSFORM_SIZE + 3] = { 0 };

    (void)state;
    memset(t.signature, 0xAA, sizeof t.signature);
    memset(t.nonce, 0xBB, sizeof t.nonce);
    smb_transform_write(frame, &t);
    assert_memory_equal(frame, "\xFDSMB\xAA", 5);
    assert_memory_equal(frame + 36, "\x03\0\0\0\0\0\x01\0\x08\x07", 10);
    assert_true(smb_transform_read(bytes_of(frame, sizeof frame), &again));
    assert_memory_equal(&again, &t, sizeof t);
    for (size_t size = 0; size < sizeof frame; size++)
        assert_false(smb_transform_read(bytes_of(frame, size), &again));
    frame[42] = 0;
    assert_false(smb_transform_read(bytes_of(frame, sizeof frame), &again));
}

static void test_frames(void **state)
{
    (void)state;
    assert_int_equal(smb_frame_kind(bytes_from_string("\xFESMB..")), SMB_FRAME_PLAIN);
    assert_int_equal(smb_frame_kind(bytes_from_string("\xFDSMB..")), SMB_FRAME_SEALED);
    assert_int_equal(smb_frame_kind(bytes_from_string("\xFCSMB..")), SMB_FRAME_COMPRESSED);
    assert_int_equal(smb_frame_kind(bytes_from_string("\xFFSMB..")), SMB_FRAME_SMB1);
    assert_int_equal(smb_frame_kind(bytes_from_string("\xFESM")), SMB_FRAME_UNKNOWN);
    assert_int_equal(smb_frame_kind(bytes_from_string("GET /")), SMB_FRAME_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_set),
        cmocka_unit_test(test_short),     cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_times),
        cmocka_unit_test(test_header),    cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_transform), cmocka_unit_test(test_frames),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
