/* What is in a share and does not agree is reported by its path: `lagra check`. tree/tree.h, invariants */
#include "fixture.h"

#include "file/file.h"
#include "service/deciding.h"

static const struct bytes share_name = BYTES("share");

struct world {
    struct fixture *f;
    struct guid space;
    const char *path;
    enum tree_kind kind;
    bool snapshot; /* takes one instead */
    bool deletes;  /* instead */
    uint64_t id;   /* of what was made */
};

static enum error attempt(struct decision *d, void *of)
{
    struct world *w = of;
    struct file_state *state = arena_alloc(d->arena, sizeof *state);
    struct file file = { .kind = w->kind, .metadata = BYTES("m") };
    struct decision_part *part;
    struct tree_path path;

    d->state = &state->base;
    assert_int_equal(tree_open(&state->tree, d, w->space, TREE_CASE_IGNORED), TREE_OK);
    decision_read_clock(d);
    if (w->snapshot) {
        assert_int_equal(tree_snapshot(&state->tree, &w->id), TREE_OK);
        return OK;
    }
    assert_int_equal(
        tree_path_parse(d->arena, TREE_CASE_IGNORED, bytes_from_string(w->path), &path), 0);
    assert_int_equal(tree_find(&state->tree, &path, TREE_TO_CHANGE, &state->place), TREE_OK);
    if (w->deletes) {
        assert_int_equal(tree_delete(&state->tree, &state->place, &part), TREE_OK);
        assert_int_equal(file_read(&state->tree, part->before, d->arena, &file), STORE_OK);
        file_delete(d, part, &file);
        return OK;
    }
    assert_int_equal(tree_create(&state->tree, &state->place, w->kind, &part), TREE_OK);
    file.etag.v = d->now;
    if (w->kind == TREE_FILE)
        file.content = content_sparse(d->now, 100);
    else
        file.attributes = ATTRIBUTE_DIRECTORY;
    file_write(d, part, &file);
    w->id = state->place.entry.id;
    return OK;
}

static uint64_t run(struct world *w)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .arena = w->f->arena,
                          .store = w->f->store,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(w->f->arena) };

    assert_int_equal(deciding_run_unawaited(&d, attempt, w), OK);
    deciding_end(&d);
    return w->id;
}

static uint64_t make(struct world *w, const char *path, enum tree_kind kind)
{
    w->path = path;
    w->kind = kind;
    w->snapshot = w->deletes = false;
    return run(w);
}

/* "d/f" and "g"; "d/h" is in a snapshot alone. */
static struct world begin(struct fixture *f)
{
    struct world w = { .f = f, .space = guid_new() };
    struct changes *changes = changes_new(f->arena);
    struct share share = { .space = w.space, .created = 1, .etag = { .v = 1 }, .quota_gib = 1 };

    open_store(f);
    share_write(changes, f->arena, share_itself, &share);
    commit(f, named("file", share_name.ptr), changes);
    make(&w, "d", TREE_DIRECTORY);
    make(&w, "g", TREE_FILE);
    make(&w, "d/h", TREE_FILE);
    w.snapshot = true;
    run(&w);
    w.snapshot = false;
    w.deletes = true;
    run(&w);
    return w;
}

static struct partition node(struct world *w, uint64_t id)
{
    return tree_partition(w->f->arena, w->space, id);
}

static void take_away(struct world *w, uint64_t id, enum record_family family, const char *key)
{
    struct changes *changes = changes_new(w->f->arena);

    changes_delete(changes, family, bytes_from_string(key));
    commit(w->f, node(w, id), changes);
}

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
    expect(&w, "share: /d: it has a name without a file or directory\n");
}

static void a_file_without_its_name(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY);

    make(&w, "e/f", TREE_FILE);
    take_away(&w, directory, RECORD_INNER, "eF");
    expect(&w, "share: /e/f: its directory does not have it\n");
}

static void a_wrong_number(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY);

    make(&w, "e/f", TREE_FILE);
    take_away(&w, directory, RECORD_INNER, "E");
    expect(&w, "share: /e: the number of its entries is wrong\n");
}

static void records_without_sense(void **state)
{
    struct world w = begin(*state);

    put_raw(w.f, node(&w, make(&w, "e", TREE_DIRECTORY)), RECORD_INNER, bytes_of("f", 1), "?");
    expect(&w, "share: /e: it has no record that makes sense\n");
}

static void versions_without_sense(void **state)
{
    static const char key[] = "VeX\0\0\0\0\0\0\0\1";
    struct world w = begin(*state);

    put_raw(w.f, node(&w, TREE_ROOT), RECORD_INNER, bytes_of(key, sizeof key - 1), "\1?");
    expect(&w, "share: /: an entry in a snapshot makes no sense\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_without_its_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_without_its_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrong_number, setup, teardown),
        cmocka_unit_test_setup_teardown(records_without_sense, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_without_sense, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
