/* What is in a share and does not agree is reported by its path: `lagra check`. tree/tree.h, invariants */
#include "tree_world.h"

#include "base/endian.h"
#include "file/pending_file.h"

static void expect(struct world *w, const char *said)
{
    const char *all = check(w->f, EXIT_FAILURE);

    if (!strstr(all, said))
        fail_msg("%s does not say: %s", all, said);
}

static void whole(void **state)
{
    struct world w = begin(*state);

    make(&w, "d/f", TREE_FILE);
    assert_non_null(strstr(check(w.f, EXIT_SUCCESS), "2 files in 1 shares; damaged or lost: 0\n"));
}

static void a_name_without_its_file(void **state)
{
    struct world w = begin(*state);

    take_away(&w, make(&w, "d/f", TREE_FILE), RECORD_LISTED, "n");
    expect(&w, "share: /d: it has an entry for a file or directory that does not exist\n");
}

static void a_file_without_its_name(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY);

    make(&w, "e/f", TREE_FILE);
    take_away(&w, directory, RECORD_INNER, "eF");
    expect(&w, "share: /e/f: its parent directory has no entry for it\n");
}

static void a_wrong_number(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY);

    make(&w, "e/f", TREE_FILE);
    take_away(&w, directory, RECORD_INNER, "E");
    expect(&w, "share: /e: its number of entries is wrong\n");
}

static void corrupt_records(void **state)
{
    struct world w = begin(*state);

    put_raw(w.f, node(&w, make(&w, "e", TREE_DIRECTORY)), RECORD_INNER, bytes_of("f", 1), "?");
    expect(&w, "share: /e: its record is missing or corrupt\n");
}

static void corrupt_versions(void **state)
{
    static const char key[] = "VeX\0\0\0\0\0\0\0\1";
    struct world w = begin(*state);

    put_raw(w.f, node(&w, TREE_ROOT), RECORD_INNER, bytes_of(key, sizeof key - 1), "\1?");
    expect(&w, "share: /: an entry in a snapshot is corrupt\n");
}

/* ---- pending copies ---- */

/* Half of its bytes are there. */
static enum error copy_half(struct decision *d, void *of)
{
    static char half[50];
    const struct body body = { .length = sizeof half, .inline_bytes = { half, sizeof half } };
    const struct content_range range = { .start = 0, .end = sizeof half };
    const struct copied_bytes bytes = { .ranges = &range, .range_count = 1 };
    const struct copied_step step = { 0, sizeof half, 100, &body, &bytes };
    struct world *w = of;
    struct pending_file pending;

    decision_open_subject(d, node(w, w->id));
    decision_read_clock(d);
    assert_int_equal(pending_file_read(d->before, d->arena, &pending), STORE_OK);
    assert_int_equal(pending_file_find(d, &pending.source.id, &pending), OK);
    return pending_file_step(d, &pending, &step);
}

/* A file "e" to which a copy is pending. returns the id of the content that it will have */
static uint64_t make_pending(struct world *w)
{
    struct pending_file pending;
    struct read_view *before;

    w->copies = true;
    make(w, "e", TREE_FILE);
    decide(w, copy_half);
    before = read_view_open(w->f->store, node(w, w->id), STORE_MAY_BLOCK);
    assert_int_equal(pending_file_read(before, w->f->arena, &pending), STORE_OK);
    read_view_close(before);
    return pending.target.content.id;
}

static void a_pending_copy(void **state)
{
    struct world w = begin(*state);

    make_pending(&w);
    assert_non_null(strstr(check(w.f, EXIT_SUCCESS), "2 files in 1 shares; damaged or lost: 0\n"));
}

/* Rule: what was copied so far is read, too: it becomes the file's. */
static void a_pending_copy_without_bytes(void **state)
{
    struct world w = begin(*state);
    char key[] = "p\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF"; /* content/sparse.h */

    be64_put(key + 1, make_pending(&w));
    put_raw(w.f, node(&w, w.id), RECORD_INNER, bytes_of(key, sizeof key - 1), "?");
    expect(&w, "share: /e: some of the bytes of its pending copy cannot be read\n");
}

static void corrupt_pending_copy(void **state)
{
    struct world w = begin(*state);

    make_pending(&w);
    put_raw(w.f, node(&w, w.id), RECORD_INNER, pending_record_key, "?");
    expect(&w, "share: /e: the record of its pending copy is corrupt\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_without_its_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_without_its_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrong_number, setup, teardown),
        cmocka_unit_test_setup_teardown(corrupt_records, setup, teardown),
        cmocka_unit_test_setup_teardown(corrupt_versions, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pending_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pending_copy_without_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(corrupt_pending_copy, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
