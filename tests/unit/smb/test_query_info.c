/* QUERY_INFO: what is shown of files, shares and descriptors, with which right, and what happens
 * where the client has too little room. ms-smb2: 3.3.5.20; MS-FSCC 2.4, 2.5 */
#include "asking.h"

#include <stdlib.h>

#include "base/endian.h"
#include "acl/access_check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define OF_FILE      1
#define OF_SHARE     2
#define OF_SECURITY  3
#define OF_QUOTA     4

struct fixture {
    struct world *world;
    struct client *client;
    struct open_file file; /* "dir\\file", of 5 bytes */
    struct open_file directory;
};

#define OPTION_DIRECTORY 1
#define DISPOSITION_IF   3 /* opened or made */

static int set_up(void **state)
{
    static const struct creating directory = { .options = OPTION_DIRECTORY,
                                               .disposition = DISPOSITION_IF };
    struct fixture *f = xcalloc(1, sizeof *f);

    *state = f;
    f->world = world_new(false);
    f->client = asking_client(f->world);
    assert_int_equal(client_create(f->client, "dir", &directory, &f->directory), 0);
    client_open(f->client, "dir\\file", &f->file);
    assert_int_equal(client_write(f->client, &f->file, 0, "12345"), 0);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    client_free(f->client);
    world_free(f->world);
    free(f);
    return 0;
}

/* Fields at their places. */
static void test_fields(void **state)
{
    const struct fixture *f = *state;
    struct bytes basic = info_of(f->client, &f->file, OF_FILE, 4),
                 standard = info_of(f->client, &f->file, OF_FILE, 5),
                 network = info_of(f->client, &f->file, OF_FILE, 34),
                 tag = info_of(f->client, &f->file, OF_FILE, 35),
                 id = info_of(f->client, &f->file, OF_FILE, 59);

    for (size_t at = 0; at < 32; at += 8)
        assert_true(le64_get(basic.ptr + at) > filetime_of(INSTANT_UNIX_EPOCH));
    assert_int_equal(le32_get(basic.ptr + 32), 0x20); /* Archive: semantics 8.1 */
    assert_int_equal(le64_get(standard.ptr), 4096);
    assert_int_equal(le64_get(standard.ptr + 8), 5);
    assert_int_equal(le32_get(standard.ptr + 16), 1);
    assert_int_equal(le32_get(standard.ptr + 20), 0); /* neither pending nor a directory */
    assert_memory_equal(network.ptr, basic.ptr, 32);
    assert_memory_equal(network.ptr + 32, standard.ptr, 16);
    assert_int_equal(le32_get(network.ptr + 48), 0x20);
    assert_int_equal(le32_get(tag.ptr), 0x20);
    assert_int_equal(le32_get(tag.ptr + 4), 0);
    assert_memory_equal(id.ptr + 8, info_of(f->client, &f->file, OF_FILE, 6).ptr, 8);
    assert_int_not_equal(le64_get(id.ptr + 8), 0);
    assert_int_equal(le64_get(id.ptr + 16), 0);
    assert_int_equal(le32_get(info_of(f->client, &f->file, OF_FILE, 7).ptr), 0);
    assert_int_equal(le64_get(info_of(f->client, &f->file, OF_FILE, 28).ptr), 5);
    standard = info_of(f->client, &f->directory, OF_FILE, 5);
    assert_int_equal(le32_get(standard.ptr + 20), 0x100);
    assert_int_equal(le32_get(info_of(f->client, &f->directory, OF_FILE, 35).ptr), 0x10);
}

/* FileAllInformation is the others in a row, with the path. MS-FSCC 2.4.2 */
static void test_all(void **state)
{
    static const char name[] = "\\\0d\0i\0r\0\\\0f\0i\0l\0e\0";
    static const struct {
        uint8_t class;
        uint8_t at, size;
    } parts[] = { { 4, 0, 40 }, { 5, 40, 24 }, { 6, 64, 8 },  { 7, 72, 4 },
                  { 8, 76, 4 }, { 14, 80, 8 }, { 16, 88, 4 }, { 17, 92, 4 } };
    const struct fixture *f = *state;
    struct bytes all = info_of(f->client, &f->file, OF_FILE, 18);

    for (size_t i = 0; i < COUNT(parts); i++)
        assert_memory_equal(all.ptr + parts[i].at,
                            info_of(f->client, &f->file, OF_FILE, parts[i].class).ptr,
                            parts[i].size);
    assert_int_equal(le32_get(all.ptr + 96), sizeof name - 1);
    assert_int_equal(all.len, 100 + sizeof name - 1);
    assert_memory_equal(all.ptr + 100, name, sizeof name - 1);
    all = info_of(f->client, &f->file, OF_FILE, 48); /* without what is in front */
    assert_int_equal(all.len, 4 + sizeof name - 3);
    assert_memory_equal(all.ptr + 4, name + 2, sizeof name - 3);
}

/* The one stream; a directory has none. MS-FSCC 2.4.43 */
static void test_streams(void **state)
{
    const struct fixture *f = *state;
    struct bytes streams = info_of(f->client, &f->file, OF_FILE, 22);

    assert_int_equal(streams.len, 24 + 14);
    assert_int_equal(le32_get(streams.ptr + 4), 14);
    assert_int_equal(le64_get(streams.ptr + 8), 5);
    assert_memory_equal(streams.ptr + 24, ":\0:\0$\0D\0A\0T\0A\0", 14);
    assert_int_equal(info_of(f->client, &f->directory, OF_FILE, 22).len, 0);
}

/* With a byte too little for what is fixed: nothing; for a text at the end: what fits.
 * ms-smb2: 3.3.5.20.1, 3.3.5.20.2 */
static void test_room(void **state)
{
    static const struct {
        uint8_t type, class;
        uint8_t least; /* sizes of Windows' structures */
        bool has_text;
    } cases[] = {
        { OF_FILE, 4, 40, false }, { OF_FILE, 5, 24, false },  { OF_FILE, 6, 8, false },
        { OF_FILE, 7, 4, false },  { OF_FILE, 8, 4, false },   { OF_FILE, 14, 8, false },
        { OF_FILE, 16, 4, false }, { OF_FILE, 17, 4, false },  { OF_FILE, 18, 104, true },
        { OF_FILE, 22, 32, true }, { OF_FILE, 28, 16, false }, { OF_FILE, 34, 56, false },
        { OF_FILE, 35, 8, false }, { OF_FILE, 48, 8, true },   { OF_FILE, 59, 24, false },
        { OF_SHARE, 1, 24, true }, { OF_SHARE, 3, 24, false }, { OF_SHARE, 4, 8, false },
        { OF_SHARE, 5, 16, true }, { OF_SHARE, 7, 32, false }, { OF_SHARE, 11, 28, false },
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bytes all = info_of(f->client, &f->file, cases[i].type, cases[i].class);
        struct reply reply =
            ask_info(f->client, &f->file, cases[i].type, cases[i].class, cases[i].least - 1u, 0);

        assert_status(reply, STATUS_INFO_LENGTH_MISMATCH);
        assert_int_equal(all.len > cases[i].least, cases[i].has_text);
        reply = ask_info(f->client, &f->file, cases[i].type, cases[i].class, (uint32_t)all.len, 0);
        assert_status(reply, STATUS_SUCCESS);
        reply =
            ask_info(f->client, &f->file, cases[i].type, cases[i].class, (uint32_t)all.len - 1, 0);
        assert_status(reply,
                      cases[i].has_text ? STATUS_BUFFER_OVERFLOW : STATUS_INFO_LENGTH_MISMATCH);
        if (cases[i].has_text)
            assert_true(bytes_equal(buffer_of(&reply), bytes_of(all.ptr, all.len - 1)));
    }
}

/* ms-smb2: 3.3.5.20.1 */
static void test_rights(void **state)
{
    static const uint8_t needing[] = { 4, 18, 34, 35 },
                         free_of_it[] = { 5, 6, 7, 8, 14, 16, 17, 22, 28, 48, 59 };
    static const struct creating asked = { .access = MAY_READ_DATA };
    struct fixture *f = *state;
    struct open_file file;
    struct reply reply;

    assert_int_equal(client_create(f->client, "dir\\file", &asked, &file), 0);
    assert_int_equal(le32_get(info_of(f->client, &file, OF_FILE, 8).ptr), MAY_READ_DATA);
    for (size_t i = 0; i < COUNT(needing); i++) {
        reply = ask_info(f->client, &file, OF_FILE, needing[i], 4096, 0);
        assert_status(reply, STATUS_ACCESS_DENIED);
    }
    for (size_t i = 0; i < COUNT(free_of_it); i++)
        info_of(f->client, &file, OF_FILE, free_of_it[i]);
    reply = ask_info(f->client, &file, OF_SECURITY, 0, 4096, 1);
    assert_status(reply, STATUS_ACCESS_DENIED);
}

/* What there is none of, and what nobody knows. */
static void test_refused(void **state)
{
    static const struct {
        uint8_t type, class;
        enum nt_status status;
    } cases[] = {
        { OF_FILE, 15, STATUS_NO_EAS_ON_FILE },      { OF_FILE, 21, STATUS_NOT_SUPPORTED },
        { OF_FILE, 0, STATUS_INVALID_INFO_CLASS },   { OF_FILE, 10, STATUS_INVALID_INFO_CLASS },
        { OF_FILE, 100, STATUS_INVALID_INFO_CLASS }, { OF_SHARE, 8, STATUS_INVALID_INFO_CLASS },
        { OF_QUOTA, 0, STATUS_NOT_SUPPORTED },       { 0, 4, STATUS_INVALID_PARAMETER },
        { 5, 4, STATUS_INVALID_PARAMETER },
    };
    const struct fixture *f = *state;
    struct reply reply;

    for (size_t i = 0; i < COUNT(cases); i++) {
        reply = ask_info(f->client, &f->file, cases[i].type, cases[i].class, 4096, 0);
        assert_status(reply, cases[i].status);
    }
    reply = ask_info(f->client, &f->file, OF_FILE, 4, (1u << 20) + 1, 0);
    assert_status(reply, STATUS_INVALID_PARAMETER);
}

/* The share's name, room and features. MS-FSCC 2.5 */
static void test_share(void **state)
{
    const struct fixture *f = *state;
    struct bytes volume = info_of(f->client, &f->file, OF_SHARE, 1),
                 size = info_of(f->client, &f->file, OF_SHARE, 3),
                 full = info_of(f->client, &f->file, OF_SHARE, 7);

    assert_true(le64_get(volume.ptr) > filetime_of(INSTANT_UNIX_EPOCH));
    assert_int_equal(le32_get(volume.ptr + 12), 10);
    assert_memory_equal(volume.ptr + 18, "s\0h\0a\0r\0e", 10);
    /* What the share may hold. */
    assert_int_equal(le64_get(size.ptr) * le32_get(size.ptr + 16) * le32_get(size.ptr + 20),
                     UINT64_C(1) << 30);
    assert_true(le64_get(size.ptr + 8) <= le64_get(size.ptr));
    assert_memory_equal(full.ptr, size.ptr, 16);
    assert_memory_equal(full.ptr + 16, size.ptr + 8, 16);
    assert_memory_equal(info_of(f->client, &f->file, OF_SHARE, 4).ptr, "\7\0\0\0\x20\0\0", 8);
    assert_memory_equal(info_of(f->client, &f->file, OF_SHARE, 5).ptr + 4,
                        "\xFF\0\0\0\x08\0\0\0N\0T\0F\0S", 16);
}

/* How large a buffer it takes is said, and that much is enough. ms-smb2: 3.3.5.20.3, 2.2.2.1 */
static void test_descriptor(void **state)
{
    const struct fixture *f = *state;
    struct reply reply = ask_info(f->client, &f->file, OF_SECURITY, 0, 0, 7);
    struct wire_reader r = reply_body(&reply);
    uint32_t needed;

    assert_status(reply, STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(wire_u16(&r), 9);
    assert_int_equal(wire_u16(&r), 1); /* one context: 3.1.1 */
    assert_int_equal(wire_u32(&r), 12);
    assert_int_equal(wire_u32(&r), 4);
    assert_int_equal(wire_u32(&r), 0);
    needed = wire_u32(&r);
    assert_true(wire_ok(&r) && needed > 20);
    reply = ask_info(f->client, &f->file, OF_SECURITY, 0, needed - 1, 7);
    assert_status(reply, STATUS_BUFFER_TOO_SMALL);
    reply = ask_info(f->client, &f->file, OF_SECURITY, 0, needed, 7);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(buffer_of(&reply).len, needed);
    assert_int_equal((uint8_t)buffer_of(&reply).ptr[0], 1);           /* its revision */
    reply = ask_info(f->client, &f->file, OF_SECURITY, 0, needed, 1); /* the owner alone */
    assert_status(reply, STATUS_SUCCESS);
    assert_true(buffer_of(&reply).len < needed);
    reply = ask_info(f->client, &f->file, OF_SECURITY, 0, 0, 0); /* none of them */
    assert_status(reply, STATUS_BUFFER_TOO_SMALL);
    reply = ask_info(f->client, &f->file, OF_SECURITY, 0, 20, 0x10);
    assert_status(reply, STATUS_SUCCESS);
    assert_memory_equal(buffer_of(&reply).ptr, "\1\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_streams, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rights, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_descriptor, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
