/* Requests for DFS referrals, whatever their bytes are, and the response. ms-dfsc: 2.2.2, 2.2.3, 2.2.4, 2.2.5.3 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/endian.h"
#include "smb_protocol/dfs_referral.h"

static struct arena *arena;
static struct text out;

static struct wire_writer begin(void)
{
    struct wire_writer w;

    text_init(&out, arena, 64);
    wire_writer_init(&w, &out);
    return w;
}

/* REQ_GET_DFS_REFERRAL. */
static struct bytes request(uint16_t level, const char *path)
{
    struct wire_writer w = begin();

    wire_put_u16(&w, level);
    wire_put_utf16(&w, bytes_from_string(path));
    wire_put_u16(&w, 0);
    return text_bytes(&out);
}

/* REQ_GET_DFS_REFERRAL_EX, with the name of a site. */
static struct bytes extended(uint16_t level, const char *path)
{
    uint16_t size = (uint16_t)((bytes_utf16_units(bytes_from_string(path)) + 1) * 2);
    struct wire_writer w = begin();

    wire_put_u16(&w, level);
    wire_put_u16(&w, 1); /* SiteName */
    wire_put_u32(&w, 2u + size + 2 + 4);
    wire_put_u16(&w, size);
    wire_put_utf16(&w, bytes_from_string(path));
    wire_put_u16(&w, 0);
    wire_put_u16(&w, 4);
    wire_put_utf16(&w, bytes_from_string("s"));
    wire_put_u16(&w, 0);
    return text_bytes(&out);
}

static void assert_read(struct bytes input, bool is_extended, const char *path, const char *share)
{
    struct dfs_referral_request read;

    assert_int_equal(dfs_referral_read(arena, input, is_extended, &read), STATUS_SUCCESS);
    assert_true(bytes_is(read.path, path));
    assert_true(bytes_is(read.share, share));
}

static enum nt_status status_of(struct bytes input, bool is_extended)
{
    struct dfs_referral_request read;

    return dfs_referral_read(arena, input, is_extended, &read);
}

static void paths(void **state)
{
    (void)state;
    assert_read(request(3, "\\server\\share"), false, "\\server\\share", "share");
    assert_read(request(4, "\\server\\Share\\a\\b"), false, "\\server\\Share", "Share");
    assert_read(request(65535, "\\\\server\\share\\"), false, "\\\\server\\share", "share");
    assert_read(extended(4, "\\server\\share\\a"), true, "\\server\\share", "share");
    /* a domain controller is asked these */
    assert_int_equal(status_of(request(4, ""), false), STATUS_NOT_FOUND);
    assert_int_equal(status_of(request(4, "\\domain"), false), STATUS_NOT_FOUND);
    assert_int_equal(status_of(request(4, "\\domain\\"), false), STATUS_NOT_FOUND);
    assert_int_equal(status_of(request(4, "\\"), false), STATUS_NOT_FOUND);
    assert_int_equal(status_of(request(4, "\\\\"), false), STATUS_NOT_FOUND);
    assert_int_equal(status_of(request(4, "\\\\\\share"), false), STATUS_NOT_FOUND);
    assert_int_equal(status_of(request(4, "server\\share"), false), STATUS_NOT_FOUND);
    /* no client of SMB2 asks for less than version 3 */
    assert_int_equal(status_of(request(2, "\\server\\share"), false), STATUS_NOT_FOUND);
    assert_int_equal(status_of(request(0, "\\server\\share"), false), STATUS_INVALID_PARAMETER);
}

/* Each length, each in memory of its own so that sanitizers see a byte read beyond it. */
static void every_length(void **state)
{
    (void)state;
    for (unsigned is_extended = 0; is_extended < 2; is_extended++) {
        struct bytes whole = is_extended ? extended(4, "\\a\\share") : request(4, "\\a\\share");

        for (size_t size = 0; size < whole.len; size++) {
            char *copy = malloc(size + 1);

            memcpy(copy, whole.ptr, size);
            assert_int_equal(status_of(bytes_of(copy, size), is_extended),
                             STATUS_INVALID_PARAMETER);
            free(copy);
        }
        assert_int_equal(status_of(whole, is_extended), STATUS_SUCCESS);
    }
}

/* Lengths within an extended request that lead out of it, and names that are none. */
static void hostile(void **state)
{
    static const uint8_t unpaired[] = { 4, 0, '\\', 0, 0x00, 0xD8, '\\', 0, 's', 0, 0, 0 };
    struct bytes bytes = extended(4, "\\a\\share");
    char *copy = arena_bytes(arena, bytes.len);
    char path[DFS_PATH_MAX + 2];

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned value = 1; value < 65536; value += 7) {
            memcpy(copy, bytes.ptr, bytes.len);
            le16_put(copy + (i == 0 ? 4 : 8), (uint16_t)value);
            (void)status_of(bytes_of(copy, bytes.len), true);
        }
    memcpy(copy, bytes.ptr, bytes.len);
    le32_put(copy + 4, UINT32_MAX);
    assert_int_equal(status_of(bytes_of(copy, bytes.len), true), STATUS_INVALID_PARAMETER);
    memcpy(copy, bytes.ptr, bytes.len);
    le16_put(copy + 8, 65535);
    assert_int_equal(status_of(bytes_of(copy, bytes.len), true), STATUS_INVALID_PARAMETER);
    assert_int_equal(status_of(bytes_of(unpaired, sizeof unpaired), false),
                     STATUS_INVALID_PARAMETER);
    memset(path, 'a', sizeof path);
    path[0] = path[8] = '\\';
    path[sizeof path - 1] = '\0';
    assert_int_equal(status_of(request(4, path), false), STATUS_NOT_FOUND);
    path[sizeof path - 2] = '\0';
    assert_int_equal(status_of(request(4, path), false), STATUS_SUCCESS);
}

static void assert_string(struct bytes response, size_t at, const char *wanted)
{
    for (size_t i = 0; i <= strlen(wanted); i++)
        assert_int_equal(le16_get(response.ptr + at + 2 * i), wanted[i]);
}

/* Rule: one target, which is no DFS root; offsets count from the entry. ms-dfsc: 2.2.4, 2.2.5.3 */
static void response(void **state)
{
    struct dfs_referral_request read;
    struct bytes b;

    (void)state;
    assert_int_equal(dfs_referral_read(arena, request(4, "\\a\\Share\\b"), false, &read),
                     STATUS_SUCCESS);
    b = dfs_referral_write(arena, &read, bytes_from_string("192.0.2.1"));
    assert_int_equal(le16_get(b.ptr), 16); /* of "\a\Share" */
    assert_int_equal(le16_get(b.ptr + 2), 1);
    assert_int_equal(le32_get(b.ptr + 4), 2);
    assert_int_equal(le16_get(b.ptr + 8), 3);
    assert_int_equal(le16_get(b.ptr + 10), 34);
    assert_int_equal(le32_get(b.ptr + 12), 0);
    assert_int_equal(le32_get(b.ptr + 16), DFS_REFERRAL_TTL_S);
    assert_string(b, 8u + le16_get(b.ptr + 20), "\\a\\Share");
    assert_string(b, 8u + le16_get(b.ptr + 22), "\\a\\Share");
    assert_string(b, 8u + le16_get(b.ptr + 24), "\\192.0.2.1\\Share");
    assert_int_equal(b.len, 8u + le16_get(b.ptr + 24) + 2 * sizeof "\\192.0.2.1\\Share");
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new((size_t)16 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(every_length),
        cmocka_unit_test(hostile),
        cmocka_unit_test(response),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
