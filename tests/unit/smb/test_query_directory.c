/* QUERY_DIRECTORY: every name once over any number of pages, the layouts of entries, patterns,
 * and where a scan begins again. ms-smb2: 3.3.5.18; MS-FSCC 2.4 */
#include "asking.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "acl/access_check.h"

#define COUNT(array)     (sizeof(array) / sizeof((array)[0]))

#define RESTART          0x01
#define SINGLE           0x02
#define REOPEN           0x10

#define NAMES            12
#define ID_BOTH          37

#define OPTION_DIRECTORY 1
#define DISPOSITION_IF   3

struct fixture {
    struct world *world;
    struct client *client;
    struct open_file directory; /* "dir" */
};

static const struct creating a_directory = { .options = OPTION_DIRECTORY,
                                             .disposition = DISPOSITION_IF };

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    *state = f;
    f->world = world_new(false);
    f->client = asking_client(f->world);
    assert_int_equal(client_create(f->client, "dir", &a_directory, &f->directory), 0);
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

static void make_file(const struct fixture *f, const char *name, const char *text)
{
    struct open_file file;

    client_open(f->client, name, &file);
    if (*text)
        assert_int_equal(client_write(f->client, &file, 0, text), 0);
    assert_int_equal(client_close(f->client, &file), 0);
}

static struct reply list(const struct fixture *f, const struct open_file *file, uint8_t class,
                         uint8_t flags, const char *pattern, uint32_t room)
{
    struct sending s;
    struct wire_writer w;

    client_charge(f->client, (uint16_t)(room > 65536 ? (room + 65535) / 65536 : 1), 64);
    sending_begin(f->client, &s);
    w = sending_add(f->client, &s, SMB_QUERY_DIRECTORY, 0);
    put_query(&w, file, class, flags, pattern, room);
    return client_ask(f->client, &s);
}

/* Adds the names of an answer to *names, each with a '|' behind it; checks that entries are
 * aligned, and inside. */
static size_t add_names(struct text *names, const struct reply *reply, size_t length_at,
                        size_t fixed)
{
    struct bytes buffer = buffer_of(reply), name;
    size_t at = 0, count = 0;

    for (uint32_t next = 1; next != 0; at += next, count++) {
        struct bytes entry = bytes_from(buffer, at);
        uint32_t size;

        assert_true(at % 8 == 0 && entry.len >= fixed);
        next = le32_get(entry.ptr);
        size = le32_get(entry.ptr + length_at);
        assert_true(size <= entry.len - fixed);
        assert_true(next == 0 ? fixed + size == entry.len
                              : next >= fixed + size && next < entry.len);
        assert_true(wire_utf8(names->arena, bytes_of(entry.ptr + fixed, size), &name));
        text_add(names, name);
        text_add_char(names, '|');
    }
    return count;
}

/* All names that the directory lists, with this room for each page, until there are no more. */
static const char *all_names(const struct fixture *f, uint8_t flags, const char *pattern,
                             uint32_t room)
{
    struct text names;
    struct reply reply = list(f, &f->directory, NAMES, flags, pattern, room);

    text_init(&names, client_arena(f->client), 256);
    while (reply.header.status == 0) {
        add_names(&names, &reply, 8, 12);
        reply = list(f, &f->directory, NAMES, flags & SINGLE, NULL, room);
    }
    if (names.len == 0)
        assert_status(reply, STATUS_NO_SUCH_FILE);
    else
        assert_status(reply, STATUS_NO_MORE_FILES);
    text_add_char(&names, '\0');
    return names.ptr;
}

/* Every name once, in their order, whatever fits into a page. */
static void test_pages(void **state)
{
    const struct fixture *f = *state;
    const char *expected = ".|..|Alpha|beta|file00.txt|file01.txt|file02.txt|file03.txt|sub|";
    struct open_file sub;

    make_file(f, "dir\\beta", "");
    make_file(f, "dir\\Alpha", "");
    for (int i = 0; i < 4; i++) {
        char name[32];

        snprintf(name, sizeof name, "dir\\file%02d.txt", i);
        make_file(f, name, "");
    }
    assert_int_equal(client_create(f->client, "dir\\sub", &a_directory, &sub), 0);
    make_file(f, "dir\\sub\\below", "");
    assert_string_equal(all_names(f, RESTART, "*", 65536), expected);
    for (uint32_t room = 40; room < 160; room += 7)
        assert_string_equal(all_names(f, RESTART, "*", room), expected);
    assert_string_equal(all_names(f, RESTART | SINGLE, "*", 65536), expected);
    assert_string_equal(all_names(f, REOPEN, "", 65536), expected);
}

/* Without regard to case; of the first request only. MS-FSA 2.1.4.4 */
static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *names;
    } cases[] = {
        { "*.txt", "a.txt|B.TXT|" },
        { "A*", "a.txt|ab|" },
        { "a.txt", "a.txt|" },
        { "?b", "ab|" },
        { "none", "" },
        { "*.none", "" },
        { "..", "..|" },
        { "<.txt", "a.txt|B.TXT|" },
    };
    const struct fixture *f = *state;

    make_file(f, "dir\\a.txt", "");
    make_file(f, "dir\\ab", "");
    make_file(f, "dir\\B.TXT", "");
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(all_names(f, RESTART, cases[i].pattern, 4096), cases[i].names);
    assert_status(list(f, &f->directory, NAMES, RESTART, "*.txt", 40), STATUS_SUCCESS);
    assert_status(list(f, &f->directory, NAMES, 0, "ab", 40), STATUS_SUCCESS); /* goes on */
    assert_status(list(f, &f->directory, NAMES, 0, "*", 40), STATUS_NO_MORE_FILES);
    assert_status(list(f, &f->directory, NAMES, RESTART, "a\\b", 4096), STATUS_OBJECT_NAME_INVALID);
    assert_status(list(f, &f->directory, NAMES, RESTART, "a/b", 4096), STATUS_OBJECT_NAME_INVALID);
}

/* The fields of each class, of one file. */
static void test_layouts(void **state)
{
    static const struct {
        uint8_t class, fixed, length_at, id_at; /* id_at 0: none */
    } cases[] = {
        { 1, 64, 60, 0 },         { 2, 68, 60, 0 },   { 3, 94, 60, 0 },   { NAMES, 12, 8, 0 },
        { ID_BOTH, 104, 60, 96 }, { 38, 80, 60, 72 }, { 60, 88, 60, 72 },
    };
    const struct fixture *f = *state;
    struct open_file file;
    struct bytes network, id;

    make_file(f, "dir\\one", "1234567");
    client_open(f->client, "dir\\one", &file);
    network = info_of(f->client, &file, 1, 34);
    id = info_of(f->client, &file, 1, 6);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct reply reply = list(f, &f->directory, cases[i].class, RESTART, "one", 4096);
        struct bytes entry;

        assert_status(reply, STATUS_SUCCESS);
        entry = buffer_of(&reply);
        assert_int_equal(entry.len, cases[i].fixed + 6u);
        assert_int_equal(le32_get(entry.ptr), 0);
        assert_int_equal(le32_get(entry.ptr + cases[i].length_at), 6);
        assert_memory_equal(entry.ptr + cases[i].fixed, "o\0n\0e\0", 6);
        if (cases[i].fixed > 12) {
            assert_memory_equal(entry.ptr + 8, network.ptr, 32); /* times */
            assert_int_equal(le64_get(entry.ptr + 40), 7);
            assert_int_equal(le64_get(entry.ptr + 48), 4096);
            assert_int_equal(le32_get(entry.ptr + 56), 0x20);
        }
        if (cases[i].id_at > 0)
            assert_memory_equal(entry.ptr + cases[i].id_at, id.ptr, 8);
        reply = list(f, &f->directory, cases[i].class, RESTART, "one", (uint32_t)entry.len);
        assert_status(reply, STATUS_SUCCESS);
        reply = list(f, &f->directory, cases[i].class, RESTART, "one", (uint32_t)entry.len - 1);
        assert_status(reply, STATUS_INFO_LENGTH_MISMATCH);
        reply = list(f, &f->directory, cases[i].class, RESTART, "one", cases[i].fixed - 1u);
        assert_status(reply, STATUS_INFO_LENGTH_MISMATCH);
    }
}

/* An entry that found no room is the next one's first. */
static void test_no_room_loses_nothing(void **state)
{
    const struct fixture *f = *state;
    struct reply reply;
    struct text names;

    make_file(f, "dir\\a long name that needs room", "");
    text_init(&names, client_arena(f->client), 64);
    reply = list(f, &f->directory, NAMES, RESTART, "a*", 20);
    assert_status(reply, STATUS_INFO_LENGTH_MISMATCH);
    reply = list(f, &f->directory, NAMES, 0, "a*", 200);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(add_names(&names, &reply, 8, 12), 1);
}

/* More entries than one decision lists, in one answer; and none of a pattern that passes over
 * all of them. */
static void test_many(void **state)
{
    const struct fixture *f = *state;
    struct reply reply;
    struct text names;

    for (int i = 0; i < 1100; i++) {
        char name[32];

        snprintf(name, sizeof name, "dir\\%04d", i);
        make_file(f, name, "");
    }
    text_init(&names, client_arena(f->client), 8192);
    reply = list(f, &f->directory, NAMES, RESTART, "*", 65536);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(add_names(&names, &reply, 8, 12), 1102);
    assert_memory_equal(names.ptr, ".|..|0000|0001|", 15);
    assert_memory_equal(names.ptr + names.len - 10, "1098|1099|", 10);
    assert_status(list(f, &f->directory, NAMES, 0, "*", 65536), STATUS_NO_MORE_FILES);
    assert_string_equal(all_names(f, RESTART, "*5?9", 65536),
                        "0509|0519|0529|0539|0549|0559|0569|0579|0589|0599|");
    assert_string_equal(all_names(f, RESTART, "*x", 65536), "");
}

/* Opened, listed and listed again in one compound: the second goes on. ms-smb2: 3.3.5.2.7.2 */
static void test_compound(void **state)
{
    static const struct open_file none = { .persistent = UINT64_MAX, .volatile_id = UINT64_MAX };
    const struct fixture *f = *state;
    struct sending s;
    struct wire_writer w;
    uint64_t id;

    make_file(f, "dir\\one", "");
    client_charge(f->client, 1, 64);
    sending_begin(f->client, &s);
    w = sending_add(f->client, &s, SMB_CREATE, 0);
    put_create(&w, "dir", &a_directory);
    w = sending_add(f->client, &s, SMB_QUERY_DIRECTORY, SMB_FLAG_RELATED);
    put_query(&w, &none, NAMES, 0, "*", 65536);
    w = sending_add(f->client, &s, SMB_QUERY_DIRECTORY, SMB_FLAG_RELATED);
    put_query(&w, &none, NAMES, 0, "*", 65536);
    id = client_send(f->client, &s);
    assert_status(client_receive(f->client, id - 2), STATUS_SUCCESS);
    assert_status(client_receive(f->client, id - 1), STATUS_SUCCESS);
    assert_status(client_receive(f->client, id), STATUS_NO_MORE_FILES);
}

static void test_refused(void **state)
{
    static const struct creating attributes_only = { .access = MAY_READ_ATTRIBUTES,
                                                     .options = OPTION_DIRECTORY,
                                                     .disposition = DISPOSITION_IF };
    struct fixture *f = *state;
    struct open_file file;

    client_open(f->client, "dir\\file", &file);
    assert_status(list(f, &file, NAMES, 0, "*", 4096), STATUS_INVALID_PARAMETER);
    assert_status(list(f, &f->directory, 5, 0, "*", 4096), STATUS_INVALID_INFO_CLASS);
    assert_status(list(f, &f->directory, NAMES, 0, "*", 2u << 20), STATUS_SUCCESS);
    assert_int_equal(client_create(f->client, "dir", &attributes_only, &file), 0);
    assert_status(list(f, &file, NAMES, 0, "*", 4096), STATUS_ACCESS_DENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patterns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_layouts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_room_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
