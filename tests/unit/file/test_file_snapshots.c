/* What snapshots of a share keep of a file: its record and its bytes; and that all of it goes when the
 * snapshots go, so that the file takes no more than before. file/README.md, "Snapshots" */
#include "fixture.h"

#include <stdlib.h>

#include "file/file_content.h"
#include "file/share_operations.h"
#include "service/driver.h"
#include "service/operation.h"

#define LENGTH 20

enum step { MAKE, WRITE, CLEAR, TOUCH, DELETE, SNAPSHOT, END, READ };

struct world {
    struct fixture *f;
    struct guid space;
    struct file_state state;
    /* of the step */
    enum step step;
    char byte;
    uint64_t generation;
    char saw[LENGTH + 1];
};

/* The bytes of the file: of the view that the tree has. */
static enum store_result read_bytes(struct decision *d, struct world *w)
{
    const struct content *content = &w->state.file.content;
    struct read_view *before = read_view_open(d->store, w->state.part->partition, STORE_MAY_BLOCK);
    struct content_reader *reader =
        content_reader_open(d->store, before, d->arena, content, 0, content->length);
    enum store_result result = STORE_OK;
    size_t used = 0, count = 1;

    while (!result && count > 0) {
        result = content_reader_read(reader, w->saw + used, LENGTH + 1 - used, NULL, &count);
        used += count;
    }
    content_reader_close(reader);
    assert_int_equal(used, LENGTH);
    return result;
}

static enum error change(struct decision *d, struct world *w)
{
    struct file *file = &w->state.file;
    struct body body = { .length = LENGTH / 2 };
    char bytes[LENGTH / 2];
    enum error e = OK;

    memset(bytes, w->byte, sizeof bytes);
    body.inline_bytes = bytes_of(bytes, sizeof bytes);
    decision_move_subject(d, w->state.part);
    if (w->step == WRITE)
        e = file_write_bytes(d, file, 0, &body);
    else if (w->step == CLEAR)
        e = file_clear_bytes(d, file, 0, LENGTH);
    if (!e)
        file_write_changed(d, file);
    return e;
}

static enum tree_result act(struct decision *d, struct world *w)
{
    struct file_state *state = &w->state;
    struct tree *tree = &state->tree;
    struct decision_part *part;
    enum tree_result result;

    if (w->step == SNAPSHOT)
        return tree_snapshot(tree, &w->generation);
    if (w->step == END)
        return tree_snapshot_delete(tree, w->generation, TASK_COLLECT_SNAPSHOTS);
    if (w->step == MAKE) {
        result = tree_create(tree, &state->place, TREE_FILE, &part);
        assert_int_equal(result, TREE_OK);
        state->file = (struct file){ .kind = TREE_FILE,
                                     .etag = { .v = d->now },
                                     .content = content_sparse(d->now, LENGTH) };
        file_write(d, part, &state->file);
        return result;
    }
    assert_int_equal(tree_open_node(tree, &state->place, &state->part), TREE_OK);
    assert_int_equal(file_read(tree, state->part->before, d->arena, &state->file), STORE_OK);
    if (w->step == READ)
        assert_int_equal(read_bytes(d, w), STORE_OK);
    else if (w->step != DELETE)
        assert_int_equal(change(d, w), OK);
    if (w->step != DELETE)
        return TREE_OK;
    result = tree_delete(tree, &state->place, &part);
    file_delete(d, part, &state->file);
    return result;
}

static enum error attempt(struct decision *d, void *of)
{
    struct world *w = of;
    struct tree_path path;

    d->state = &w->state.base;
    assert_int_equal(tree_path_parse(d->arena, TREE_CASE_IGNORED, bytes_from_string("f"), &path),
                     0);
    decision_open_subject(d, tree_stamp_partition(w->space));
    if (w->step == READ && w->generation)
        tree_open_at(&w->state.tree, d, w->space, TREE_CASE_IGNORED, w->generation);
    else
        assert_int_equal(tree_open(&w->state.tree, d, w->space, TREE_CASE_IGNORED), TREE_OK);
    decision_read_clock(d);
    assert_int_equal(tree_find(&w->state.tree, &path,
                               w->step == READ ? TREE_TO_READ : TREE_TO_CHANGE, &w->state.place),
                     TREE_OK);
    decision_read_clock(d);
    assert_int_equal(act(d, w), TREE_OK);
    return OK;
}

/* byte: of WRITE; generation: of END, and of READ, 0: as it is now */
static uint64_t run(struct world *w, enum step step, char byte, uint64_t generation)
{
    struct problem problem = { .detail = NULL };
    struct arena *arena = arena_new(1 << 20);
    struct decision d = { .arena = arena,
                          .store = store_of(w->f),
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };

    w->step = step;
    w->byte = byte;
    w->generation = generation;
    assert_int_equal(deciding_run_unawaited(&d, attempt, w), OK);
    deciding_end(&d);
    arena_free(arena);
    return w->generation;
}

static void expect(struct world *w, uint64_t generation, char first, char second)
{
    run(w, READ, 0, generation);
    for (size_t i = 0; i < LENGTH; i++)
        assert_int_equal(w->saw[i], i < LENGTH / 2 ? first : second);
}

static void collect(struct world *w)
{
    static const struct service *const services[] = { &file_service };
    bool left;

    while (tasks_run_due(store_of(w->f), services, NULL, 1, clock_now(), &left) < INSTANT_MAX)
        assert_false(left);
}

/* The records of the file's partition, and those of the index. */
static size_t count_records(struct world *w)
{
    static const enum record_family families[] = { RECORD_LISTED, RECORD_INNER };
    struct arena *arena = arena_new(1 << 20);
    struct read_view *before = read_view_open(
        store_of(w->f), tree_partition(arena, w->space, w->state.place.entry.id), STORE_MAY_BLOCK);
    struct index_iterator *iterator =
        index_iterator_open(store_of(w->f), w->space, bytes_of("", 0), bytes_of("", 0),
                            bytes_of("", 0), STORE_MAY_BLOCK);
    struct index_record found;
    struct record record;
    size_t count = 0;

    for (size_t i = 0; i < 2; i++) {
        struct scan *scan = scan_open(before, families[i], bytes_of("", 0), bytes_of("", 0));

        for (; scan_next(scan, NULL, &record) == STORE_OK; count++)
            ;
        scan_close(scan);
    }
    for (; index_iterator_next(iterator, &found) == STORE_OK; count++)
        ;
    index_iterator_close(iterator);
    read_view_close(before);
    arena_free(arena);
    return count;
}

static struct world *begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    w->f = *state;
    w->space = guid_new();
    run(w, MAKE, 0, 0);
    return w;
}

/* Rule: each snapshot reads the bytes that the file had, in whatever order snapshots end; then the file has
 * the records that it would have without them. */
static void bytes_stay_and_go(void **state)
{
    static const size_t orders[][3] = {
        { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 }, { 1, 2, 0 }, { 0, 2, 1 }
    };

    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
        struct world *w = begin(state);
        uint64_t taken[3];
        bool ended[3] = { false };
        size_t before;

        run(w, WRITE, 'a', 0);
        before = count_records(w);
        taken[0] = run(w, SNAPSHOT, 0, 0);
        run(w, WRITE, 'b', 0);
        taken[1] = run(w, SNAPSHOT, 0, 0);
        run(w, TOUCH, 0, 0);
        run(w, WRITE, 'c', 0);
        taken[2] = run(w, SNAPSHOT, 0, 0);
        run(w, WRITE, 'd', 0);
        for (size_t i = 0; i < 3; i++) {
            run(w, END, 0, taken[orders[o][i]]);
            ended[orders[o][i]] = true;
            collect(w);
            for (size_t s = 0; s < 3; s++)
                if (!ended[s])
                    expect(w, taken[s], (char)('a' + s), '\0');
            expect(w, 0, 'd', '\0');
        }
        assert_in_range(count_records(w), 1, before + 1); /* that there once were generations */
        free(w);
    }
}

/* Rule: of a file that is deleted, its bytes stay for the snapshots that see it, and nothing without them. */
static void nothing_is_left_of_a_deleted_file(void **state)
{
    struct world *w = begin(state);
    uint64_t first, second;

    first = run(w, SNAPSHOT, 0, 0); /* a hole, without records */
    run(w, WRITE, 'a', 0);
    second = run(w, SNAPSHOT, 0, 0);
    run(w, CLEAR, 0, 0);
    run(w, DELETE, 0, 0);
    collect(w);
    expect(w, second, 'a', '\0');
    expect(w, first, '\0', '\0');
    run(w, END, 0, second);
    collect(w);
    expect(w, first, '\0', '\0');
    run(w, END, 0, first);
    collect(w);
    assert_int_equal(count_records(w), 0);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_stay_and_go, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_left_of_a_deleted_file, fixture_setup,
                                        fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
