/* SET_INFO: times, attributes, length, name, deletion, descriptor; each with the right that it
 * needs. ms-smb2: 3.3.5.21; MS-FSA 2.1.5.15 */
#include "asking.h"

#include <stdlib.h>

#include "base/endian.h"
#include "acl/access_check.h"

#define COUNT(array)     (sizeof(array) / sizeof((array)[0]))

#define OF_FILE          1
#define OF_SHARE         2
#define OF_SECURITY      3
#define OF_QUOTA         4

#define BASIC            4
#define STANDARD         5
#define RENAME           10
#define DISPOSITION      13
#define POSITION         14
#define MODE             16
#define ALL              18
#define ALLOCATION       19
#define END_OF_FILE      20

#define OPTION_DIRECTORY 1
#define DISPOSITION_OPEN 1
#define DISPOSITION_IF   3

struct fixture {
    struct world *world;
    struct client *client;
    struct open_file file; /* "file", of 5 bytes, with every right */
    struct open_file directory;
};

static const struct creating every_right = { .access = MAY_ALL };
static const struct creating a_directory = { .access = MAY_ALL,
                                             .options = OPTION_DIRECTORY,
                                             .disposition = DISPOSITION_IF };
static const struct creating only_open = { .access = MAY_ALL, .disposition = DISPOSITION_OPEN };

static int set_up_with(void **state, bool enforce_acls)
{
    const struct smb_options options = { .enforce_acls = enforce_acls };
    struct fixture *f = xcalloc(1, sizeof *f);

    *state = f;
    f->world = world_new_with(&options);
    f->client = asking_client(f->world);
    assert_int_equal(client_create(f->client, "dir", &a_directory, &f->directory), 0);
    assert_int_equal(client_create(f->client, "file", &every_right, &f->file), 0);
    assert_int_equal(client_write(f->client, &f->file, 0, "12345"), 0);
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, false);
}

static int set_up_enforcing(void **state)
{
    return set_up_with(state, true);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    client_free(f->client);
    world_free(f->world);
    free(f);
    return 0;
}

static uint32_t set(const struct fixture *f, const struct open_file *file, uint8_t class,
                    const void *bytes, size_t size)
{
    struct reply reply = set_info(f->client, file, OF_FILE, class, 0, bytes_of(bytes, size));

    if (reply.header.status == 0)
        assert_memory_equal(reply.bytes.ptr + SMB_HEADER_SIZE, "\2", 2); /* all of its body */
    return reply.header.status;
}

#define assert_set(f, file, class, bytes, size, wanted)                                            \
    assert_int_equal(set((f), (file), (class), (bytes), (size)), nt_status_value(wanted))

static uint64_t length_of(const struct fixture *f, const struct open_file *file)
{
    return le64_get(info_of(f->client, file, OF_FILE, STANDARD).ptr + 8);
}

/* ---- times and attributes ---- */

struct basic {
    uint8_t bytes[40];
};

static struct basic basic_of(uint64_t created, uint64_t accessed, uint64_t written,
                             uint64_t changed, uint32_t attributes)
{
    struct basic basic = { { 0 } };

    le64_put(basic.bytes, created);
    le64_put(basic.bytes + 8, accessed);
    le64_put(basic.bytes + 16, written);
    le64_put(basic.bytes + 24, changed);
    le32_put(basic.bytes + 32, attributes);
    return basic;
}

#define A_TIME UINT64_C(130000000000000000) /* in 2012 */

/* What is given is shown; 0 leaves what is there. MS-FSCC 2.4.7 */
static void test_basic(void **state)
{
    const struct fixture *f = *state;
    struct basic basic = basic_of(A_TIME, A_TIME + 1, A_TIME + 2, A_TIME + 3, 0x23);
    struct bytes shown;

    assert_set(f, &f->file, BASIC, basic.bytes, 40, STATUS_SUCCESS);
    assert_memory_equal(info_of(f->client, &f->file, OF_FILE, BASIC).ptr, basic.bytes, 36);
    basic = basic_of(0, A_TIME + 9, 0, 0, 0);
    assert_set(f, &f->file, BASIC, basic.bytes, 40, STATUS_SUCCESS);
    basic = basic_of(A_TIME, A_TIME + 9, A_TIME + 2, A_TIME + 3, 0x23);
    shown = info_of(f->client, &f->file, OF_FILE, BASIC);
    assert_memory_equal(shown.ptr, basic.bytes, 24);
    assert_int_equal(le32_get(shown.ptr + 32), 0x23);
    /* NORMAL: no other. */
    basic = basic_of(0, 0, 0, 0, 0x80);
    assert_set(f, &f->file, BASIC, basic.bytes, 40, STATUS_SUCCESS);
    assert_int_equal(le32_get(info_of(f->client, &f->file, OF_FILE, BASIC).ptr + 32), 0x80);
}

/* A time that was set, or frozen by -1, is not moved by a write of the handle. MS-FSA 2.1.5.15.2 */
static void test_frozen(void **state)
{
    const struct fixture *f = *state;
    struct basic given = basic_of(0, 0, A_TIME, 0, 0);

    assert_set(f, &f->file, BASIC, given.bytes, 40, STATUS_SUCCESS);
    assert_int_equal(client_write(f->client, &f->file, 0, "abc"), 0);
    assert_int_equal(le64_get(info_of(f->client, &f->file, OF_FILE, BASIC).ptr + 16), A_TIME);
}

static void test_basic_refused(void **state)
{
    static const struct {
        uint64_t written;
        uint32_t attributes;
        bool of_directory;
        enum nt_status status;
    } cases[] = {
        { UINT64_MAX, 0, false, STATUS_SUCCESS },
        { UINT64_MAX - 1, 0, false, STATUS_SUCCESS },
        { UINT64_MAX - 2, 0, false, STATUS_INVALID_PARAMETER },
        { UINT64_C(1) << 63, 0, false, STATUS_INVALID_PARAMETER },
        { 0, 0x10, false, STATUS_INVALID_PARAMETER },
        { 0, 0x10, true, STATUS_SUCCESS },
        { 0, 0x100, false, STATUS_SUCCESS },
        { 0, 0x100, true, STATUS_INVALID_PARAMETER },
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct basic basic = basic_of(0, 0, cases[i].written, 0, cases[i].attributes);

        assert_set(f, cases[i].of_directory ? &f->directory : &f->file, BASIC, basic.bytes, 40,
                   cases[i].status);
    }
}

/* ---- length ---- */

static void set_length(const struct fixture *f, uint8_t class, uint64_t length,
                       enum nt_status status)
{
    uint8_t bytes[8];

    le64_put(bytes, length);
    assert_set(f, &f->file, class, bytes, 8, status);
}

/* An end that is set is the length; an allocation only cuts. MS-FSA 2.1.5.15.1, 2.1.5.15.5 */
static void test_length(void **state)
{
    const struct fixture *f = *state;
    struct bytes got;

    set_length(f, END_OF_FILE, 7, STATUS_SUCCESS);
    assert_int_equal(length_of(f, &f->file), 7);
    assert_int_equal(client_read(f->client, &f->file, 0, 100, &got), 0);
    assert_int_equal(got.len, 7);
    assert_memory_equal(got.ptr, "12345\0\0", 7);
    set_length(f, ALLOCATION, 100, STATUS_SUCCESS);
    assert_int_equal(length_of(f, &f->file), 7);
    set_length(f, ALLOCATION, 0, STATUS_SUCCESS);
    assert_int_equal(length_of(f, &f->file), 0);
    set_length(f, END_OF_FILE, 1 << 20, STATUS_SUCCESS);
    set_length(f, END_OF_FILE, UINT64_C(2) << 30, STATUS_DISK_FULL); /* the share has 1 GiB */
    set_length(f, END_OF_FILE, UINT64_C(5) << 40, STATUS_DISK_FULL);
    set_length(f, END_OF_FILE, UINT64_C(1) << 63, STATUS_INVALID_PARAMETER);
    assert_int_equal(length_of(f, &f->file), 1 << 20);
    assert_set(f, &f->directory, END_OF_FILE, "\0\0\0\0\0\0\0", 8, STATUS_INVALID_PARAMETER);
}

/* ---- names ---- */

/* The buffer of a rename. */
static struct bytes renaming(const struct fixture *f, const char *name, bool replaces,
                             uint64_t root)
{
    struct text text;
    struct wire_writer w;

    text_init(&text, client_arena(f->client), 64);
    wire_writer_init(&w, &text);
    wire_put_u8(&w, replaces);
    wire_put_zeros(&w, 7);
    wire_put_u64(&w, root);
    wire_put_u32(&w, (uint32_t)bytes_utf16_units(bytes_from_string(name)) * 2);
    wire_put_utf16(&w, bytes_from_string(name));
    return text_bytes(&text);
}

static uint32_t rename_to(const struct fixture *f, const struct open_file *file, const char *name,
                          bool replaces)
{
    struct bytes buffer = renaming(f, name, replaces, 0);

    return set(f, file, RENAME, buffer.ptr, buffer.len);
}

static uint32_t open_status(const struct fixture *f, const char *name)
{
    struct open_file file;
    uint32_t status = client_create(f->client, name, &only_open, &file);

    if (status == 0)
        assert_int_equal(client_close(f->client, &file), 0);
    return status;
}

/* To another name, also in another directory; the handle stays what it is. */
static void test_rename(void **state)
{
    const struct fixture *f = *state;

    assert_int_equal(rename_to(f, &f->file, "other", false), 0);
    assert_int_equal(open_status(f, "file"), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(open_status(f, "other"), 0);
    assert_int_equal(client_close(f->client, &f->directory), 0);
    assert_int_equal(rename_to(f, &f->file, "dir\\Deep", false), 0);
    assert_int_equal(open_status(f, "dir\\deep"), 0);
    assert_memory_equal(info_of(f->client, &f->file, OF_FILE, ALL).ptr + 100,
                        "\\\0d\0i\0r\0\\\0D\0e\0e\0p\0", 18);
    assert_int_equal(length_of(f, &f->file), 5);
}

static void test_rename_refused(void **state)
{
    struct fixture *f = *state;
    struct open_file there;
    struct bytes buffer;

    client_open(f->client, "there", &there);
    assert_int_equal(client_close(f->client, &there), 0);
    assert_int_equal(rename_to(f, &f->file, "there", false),
                     nt_status_value(STATUS_OBJECT_NAME_COLLISION));
    assert_int_equal(rename_to(f, &f->file, "no\\where", false),
                     nt_status_value(STATUS_OBJECT_PATH_NOT_FOUND));
    assert_int_equal(rename_to(f, &f->file, "a\\\\b", false),
                     nt_status_value(STATUS_OBJECT_NAME_INVALID));
    assert_int_equal(rename_to(f, &f->file, "a:b", false),
                     nt_status_value(STATUS_OBJECT_NAME_INVALID));
    assert_int_equal(rename_to(f, &f->file, "", false), nt_status_value(STATUS_INVALID_PARAMETER));
    assert_int_equal(rename_to(f, &f->file, "dir", true), nt_status_value(STATUS_ACCESS_DENIED));
    buffer = renaming(f, "x", false, 1);
    assert_set(f, &f->file, RENAME, buffer.ptr, buffer.len, STATUS_INVALID_PARAMETER);
    /* A name that is longer than what came of it, and half of a code unit. */
    buffer = renaming(f, "longer", false, 0);
    assert_set(f, &f->file, RENAME, buffer.ptr, buffer.len - 2, STATUS_INVALID_PARAMETER);
    ((char *)buffer.ptr)[16]--;
    assert_set(f, &f->file, RENAME, buffer.ptr, buffer.len, STATUS_OBJECT_NAME_INVALID);
    assert_int_equal(open_status(f, "file"), 0);
    assert_int_equal(rename_to(f, &f->file, "there", true), 0);
    assert_int_equal(open_status(f, "file"), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
}

/* ---- deletion ---- */

/* It goes with its last handle; until then it may be taken back. semantics 8.3 */
static void test_disposition(void **state)
{
    const struct fixture *f = *state;

    assert_set(f, &f->file, DISPOSITION, "\1", 1, STATUS_SUCCESS);
    assert_int_equal(le32_get(info_of(f->client, &f->file, OF_FILE, STANDARD).ptr + 16),
                     0); /* links */
    assert_int_equal(info_of(f->client, &f->file, OF_FILE, STANDARD).ptr[20], 1);
    assert_int_equal(open_status(f, "file"), nt_status_value(STATUS_DELETE_PENDING));
    assert_set(f, &f->file, DISPOSITION, "\0", 1, STATUS_SUCCESS);
    assert_int_equal(open_status(f, "file"), 0);
    assert_set(f, &f->file, DISPOSITION, "\1", 1, STATUS_SUCCESS);
    assert_int_equal(client_close(f->client, &f->file), 0);
    assert_int_equal(open_status(f, "file"), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
}

static void test_disposition_refused(void **state)
{
    struct fixture *f = *state;
    struct basic read_only = basic_of(0, 0, 0, 0, 1);
    struct open_file inner;

    client_open(f->client, "dir\\inner", &inner);
    assert_set(f, &f->directory, DISPOSITION, "\1", 1, STATUS_DIRECTORY_NOT_EMPTY);
    assert_set(f, &f->file, BASIC, read_only.bytes, 40, STATUS_SUCCESS);
    assert_set(f, &f->file, DISPOSITION, "\1", 1, STATUS_CANNOT_DELETE);
}

/* ---- what is the handle's, rights, sizes ---- */

static void test_position(void **state)
{
    const struct fixture *f = *state;

    assert_set(f, &f->file, POSITION, "\7\1\0\0\0\0\0", 8, STATUS_SUCCESS);
    assert_int_equal(le64_get(info_of(f->client, &f->file, OF_FILE, POSITION).ptr), 0x107);
    assert_set(f, &f->file, POSITION, "\7\1\0\0\0\0\0\x80", 8, STATUS_INVALID_PARAMETER);
    assert_set(f, &f->file, MODE, "\2\0\0", 4, STATUS_SUCCESS);
    assert_int_equal(le32_get(info_of(f->client, &f->file, OF_FILE, MODE).ptr), 2);
    assert_set(f, &f->file, MODE, "\1\0\0", 4, STATUS_INVALID_PARAMETER);
}

/* A byte less than the fixed part, whatever the rights; then, with no right but to read. */
static void test_sizes_and_rights(void **state)
{
    static const struct {
        uint8_t class;
        uint8_t fixed;
        enum nt_status status; /* with too few rights */
    } cases[] = {
        { BASIC, 36, STATUS_ACCESS_DENIED },     { RENAME, 20, STATUS_ACCESS_DENIED },
        { 11, 20, STATUS_NOT_SUPPORTED },        { DISPOSITION, 1, STATUS_ACCESS_DENIED },
        { POSITION, 8, STATUS_SUCCESS },         { MODE, 4, STATUS_SUCCESS },
        { ALLOCATION, 8, STATUS_ACCESS_DENIED }, { END_OF_FILE, 8, STATUS_ACCESS_DENIED },
        { 39, 8, STATUS_ACCESS_DENIED },         { 40, 4, STATUS_NOT_SUPPORTED },
    };
    static const struct creating reading = { .access = MAY_READ_DATA };
    static const uint8_t zeros[40];
    struct fixture *f = *state;
    struct open_file file;

    assert_int_equal(client_create(f->client, "file", &reading, &file), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_set(f, &file, cases[i].class, zeros, cases[i].fixed - 1u,
                   STATUS_INFO_LENGTH_MISMATCH);
        assert_set(f, &file, cases[i].class, zeros, cases[i].fixed, cases[i].status);
    }
    assert_set(f, &f->file, 15, zeros, 4, STATUS_EAS_NOT_SUPPORTED);
    assert_set(f, &f->file, 64, zeros, 4, STATUS_INVALID_INFO_CLASS);
    assert_set(f, &f->file, 0, zeros, 4, STATUS_INVALID_INFO_CLASS);
}

static void test_other_types(void **state)
{
    const struct fixture *f = *state;
    struct reply reply = set_info(f->client, &f->file, OF_SHARE, 2, 0, bytes_of("12345678", 8));

    assert_status(reply, STATUS_NOT_SUPPORTED);
    reply = set_info(f->client, &f->file, OF_QUOTA, 0, 0, bytes_of("12345678", 8));
    assert_status(reply, STATUS_NOT_SUPPORTED);
    reply = set_info(f->client, &f->file, 7, 0, 0, bytes_of("12345678", 8));
    assert_status(reply, STATUS_INVALID_PARAMETER);
}

/* ---- descriptors ---- */

/* Owner S-1-1-0, group S-1-5-18, one entry that allows everybody to read. MS-DTYP 2.4.6 */
static const uint8_t descriptor[] = {
    1, 0, 4, 0x80, 20, 0, 0,  0, 32,   0, 0,    0, 0, 0, 0, 0, 44, 0, 0, 0, 1, 1, 0,  0,
    0, 0, 0, 1,    0,  0, 0,  0, 1,    1, 0,    0, 0, 0, 0, 5, 18, 0, 0, 0, 2, 0, 28, 0,
    1, 0, 0, 0,    0,  0, 20, 0, 0x89, 0, 0x12, 0, 1, 1, 0, 0, 0,  0, 0, 1, 0, 0, 0,  0,
};

/* What is set is what is shown; only the parts that are named. ms-smb2: 3.3.5.21.3 */
static void test_descriptor(void **state)
{
    const struct fixture *f = *state;
    struct reply reply = ask_info(f->client, &f->file, OF_SECURITY, 0, 4096, 1), again;

    assert_status(reply, STATUS_SUCCESS);
    assert_status(
        set_info(f->client, &f->file, OF_SECURITY, 0, 4, bytes_of(descriptor, sizeof descriptor)),
        STATUS_SUCCESS);
    again = ask_info(f->client, &f->file, OF_SECURITY, 0, 4096, 1);
    assert_true(bytes_equal(buffer_of(&again), buffer_of(&reply))); /* the owner is as it was */
    assert_status(
        set_info(f->client, &f->file, OF_SECURITY, 0, 7, bytes_of(descriptor, sizeof descriptor)),
        STATUS_SUCCESS);
    again = ask_info(f->client, &f->file, OF_SECURITY, 0, 4096, 7);
    assert_true(bytes_equal(buffer_of(&again), bytes_of(descriptor, sizeof descriptor)));
    for (size_t size = 0; size < 20; size++)
        assert_status(set_info(f->client, &f->file, OF_SECURITY, 0, 7, bytes_of(descriptor, size)),
                      STATUS_INVALID_SECURITY_DESCR);
}

static void test_descriptor_rights(void **state)
{
    static const struct creating dac = { .access = MAY_WRITE_DAC },
                                 owner = { .access = MAY_WRITE_OWNER };
    struct fixture *f = *state;
    struct bytes buffer = bytes_of(descriptor, sizeof descriptor);
    struct open_file file;

    assert_int_equal(client_create(f->client, "file", &dac, &file), 0);
    assert_status(set_info(f->client, &file, OF_SECURITY, 0, 1, buffer), STATUS_ACCESS_DENIED);
    assert_status(set_info(f->client, &file, OF_SECURITY, 0, 8, buffer), STATUS_ACCESS_DENIED);
    assert_status(set_info(f->client, &file, OF_SECURITY, 0, 4, buffer), STATUS_SUCCESS);
    assert_int_equal(client_create(f->client, "file", &owner, &file), 0);
    assert_status(set_info(f->client, &file, OF_SECURITY, 0, 4, buffer), STATUS_ACCESS_DENIED);
    assert_status(set_info(f->client, &file, OF_SECURITY, 0, 3, buffer), STATUS_SUCCESS);
}

/* Where descriptors are checked, what they refuse is refused, and so is what takes a privilege. ms-erref: 2.3.1;
 * decision: 440 */
static void test_enforced(void **state)
{
    static const struct creating reads = { .access = MAY_READ_DATA,
                                           .disposition = DISPOSITION_OPEN },
                                 audits = { .access = MAY_ACCESS_SACL,
                                            .disposition = DISPOSITION_OPEN };
    static const uint8_t system_owns[] = { 1, 0, 0, 0x80, 20, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0,
                                           0, 0, 0, 0,    1,  1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0 };
    static const uint8_t nothing[] = { 1, 0, 4,  0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                       0, 0, 20, 0,    0, 0, 2, 0, 8, 0, 0, 0, 0, 0 };
    const struct fixture *f = *state;
    struct open_file file;

    assert_int_equal(client_create(f->client, "file", &reads, &file), 0);
    assert_int_equal(client_create(f->client, "file", &audits, &file),
                     nt_status_value(STATUS_PRIVILEGE_NOT_HELD));
    assert_status(
        set_info(f->client, &f->file, OF_SECURITY, 0, 1, bytes_of(system_owns, sizeof system_owns)),
        STATUS_INVALID_OWNER);
    assert_status(
        set_info(f->client, &f->file, OF_SECURITY, 0, 4, bytes_of(nothing, sizeof nothing)),
        STATUS_SUCCESS);
    assert_int_equal(client_create(f->client, "file", &reads, &file),
                     nt_status_value(STATUS_ACCESS_DENIED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_basic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_frozen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_basic_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rename, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rename_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_disposition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_disposition_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_position, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sizes_and_rights, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_descriptor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_descriptor_rights, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_enforced, set_up_enforcing, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
