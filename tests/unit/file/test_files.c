/* Directories and files without a network: what becomes of damaged records, and pages while names change. */
#include "fixture.h"

#include <stdio.h>

#include "file/file.h"

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &file_service);
    assert_ok(ask(*state, "PUT /sha?restype=share", NULL, NULL), 201);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

static const char a_file[] = "x-ms-type: file\nx-ms-content-length: 1";

static uint64_t id_of(struct fixture *f, const struct reply *made)
{
    uint64_t id;

    assert_true(
        bytes_parse_u64(bytes_from_string(header_of(f, made, "x-ms-file-id")), UINT64_MAX, &id));
    return id;
}

static struct guid space_of_share(struct fixture *f, struct arena *arena)
{
    struct partition at = { file_account_space((struct bytes)BYTES("devstoreaccount1")),
                            BYTES("sha") };
    struct read_view *before = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct share share;

    assert_int_equal(share_read(before, arena, share_itself, &share), STORE_OK);
    read_view_close(before);
    return share.space;
}

/* Puts bytes in the place of the record of a node; ptr NULL: deletes it. */
static void damage(struct fixture *f, uint64_t id, struct bytes value)
{
    struct arena *arena = arena_new(1 << 16);
    struct partition at = tree_partition(arena, space_of_share(f, arena), id);
    struct read_view *before = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    if (value.ptr)
        changes_put(changes, RECORD_INNER, (struct bytes)BYTES("f"), value, NULL, 0);
    else
        changes_delete(changes, RECORD_INNER, (struct bytes)BYTES("f"));
    assert_int_equal(store_commit(store_of(f), &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(before);
    arena_free(arena);
}

/* Rule: no silent wrong answer (promise 5): a record that makes no sense, that is of the other kind, or
 * that is not there although a name is. */
static void damaged_records(void **state)
{
    struct fixture *f = *state;
    struct reply made = ask(f, "PUT /sha/f", a_file, NULL);
    static const char directory[] = "\x01\x01\x02\x01\x01\x10\x01\x02\x03\x04\x05\x01";
    const struct bytes values[] = { BYTES("?"),
                                    bytes_of(directory, sizeof directory - 1),
                                    { NULL, 0 } };

    assert_ok(made, 201);
    assert_ok(ask(f, "PUT /sha/g", a_file, NULL), 201);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        damage(f, id_of(f, &made), values[i]);
        assert_answer(ask(f, "HEAD /sha/f", NULL, NULL), 500, "InternalError");
        assert_answer(ask(f, "DELETE /sha/f", NULL, NULL), 500, "InternalError");
        assert_answer(ask(f, "PUT /sha/f", a_file, NULL), 500, "InternalError");
        assert_answer(ask(f, "PUT /sha/x?comp=rename",
                          "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/f", NULL),
                      500, "InternalError");
        assert_answer(ask(f, "GET /sha?restype=directory&comp=list", NULL, NULL), 500,
                      "InternalError");
        assert_ok(ask(f, "HEAD /sha/g", NULL, NULL), 200);
    }
}

/* Rule: the work of a page is that of its entries: a marker in the midst of a thousand names goes on there,
 * and each name is shown once. decision: 333 */
static void all_pages(void **state)
{
    struct fixture *f = *state;
    const char *marker = "";
    unsigned shown = 0;

    for (unsigned i = 0; i < 1000; i++)
        assert_ok(askf(f, a_file, NULL, "PUT /sha/File%03u", i), 201);
    do {
        struct reply page =
            askf(f, NULL, NULL, "GET /sha?restype=directory&comp=list&maxresults=%u%s",
                 shown % 7 == 0 ? 150 : 97, marker);
        const char *at = page.body.ptr, *end = at + page.body.len, *next;
        char name[32];

        assert_ok(page, 200);
        for (; (at = memmem(at, (size_t)(end - at), "<Name>", 6)); at += 6, shown++) {
            snprintf(name, sizeof name, "<Name>File%03u</Name>", shown);
            assert_memory_equal(at, name, strlen(name));
        }
        next = memmem(page.body.ptr, page.body.len, "<NextMarker>", 12);
        marker = next ? textf(f, "&marker=%.*s", (int)strcspn(next + 12, "<"), next + 12) : "";
    } while (marker[0]);
    assert_int_equal(shown, 1000);
}

/* Rule: a replaced file's content goes, and nothing is left of a deleted one. */
static void nothing_is_left(void **state)
{
    struct fixture *f = *state;
    static const char put[] = "x-ms-write: update\nx-ms-range: bytes=0-0";

    for (int i = 0; i < 3; i++) {
        assert_ok(ask(f, "PUT /sha/f", a_file, NULL), 201);
        assert_ok(ask(f, "PUT /sha/f?comp=range", put, "x"), 201);
        assert_ok(ask(f, "PUT /sha/g", a_file, NULL), 201);
        assert_ok(ask(f, "PUT /sha/g?comp=range", put, "y"), 201);
        assert_ok(ask(f, "PUT /sha/f?comp=rename",
                      "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/g\n"
                      "x-ms-file-rename-replace-if-exists: true",
                      NULL),
                  200);
        assert_body(ask(f, "GET /sha/f", NULL, NULL), "y");
        assert_answer(ask(f, "HEAD /sha/g", NULL, NULL), 404, "ResourceNotFound");
        assert_ok(ask(f, "DELETE /sha/f", NULL, NULL), 202);
    }
    fixture_run_due(f);
    assert_int_equal(bytes_kept(f), 0);
}

/* Rule: nothing is left of a file whose only bytes came with the request that made it, either. */
static void nothing_is_left_of_what_was_made_with_bytes(void **state)
{
    static char bytes[80000];
    struct fixture *f = *state;
    static const char headers[] = "x-ms-type: file\nx-ms-content-length: 80000\n"
                                  "x-ms-version: 2026-10-06";

    memset(bytes, 'x', sizeof bytes - 1);
    assert_ok(ask(f, "PUT /sha/f", headers, bytes), 201);
    assert_in_range(bytes_kept(f), sizeof bytes - 1, 2 * sizeof bytes);
    assert_ok(ask(f, "PUT /sha/f", headers, bytes), 201);
    assert_ok(ask(f, "PUT /sha/g", headers, bytes), 201);
    assert_ok(ask(f, "DELETE /sha/f", NULL, NULL), 202);
    assert_ok(ask(f, "PUT /sha/g", a_file, NULL), 201);
    fixture_run_due(f);
    assert_int_equal(bytes_kept(f), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_records, setup, teardown),
        cmocka_unit_test_setup_teardown(all_pages, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_left, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_left_of_what_was_made_with_bytes, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
