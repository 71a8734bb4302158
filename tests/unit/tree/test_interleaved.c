/* Tree invariants 1, 2 and 3 with others in between: while an operation is decided, others are done
 * between any two of its looks at a partition. What it and they answer, and what the tree then holds,
 * is what the model has when they are done one after the other, in some order that keeps apart what was
 * apart in time. tree/tree.h */
#include "fixture.h"

#include <stdio.h>

static const char *const seeds[][6] = {
    { NULL },
    { "a/" },
    { "a/", "a/b/", "b" },
    { "a/", "a/b/", "a/b/a", "b/" },
    { "a/", "b/", "b/a", "a/a/" },
};

/* ---- the intruders ---- */

static struct {
    struct fixture *f;
    const struct op *ops;
    size_t count, done;
    unsigned opened, at[2]; /* before the nth snapshot that the operation opens */
    bool inside;
    struct outcome outcomes[2];
} other;

struct read_view *__wrap_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access);
struct read_view *__real_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access);
enum store_result __wrap_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence);
enum store_result __real_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence);

static void intrude(void)
{
    if (other.inside)
        return;
    other.inside = true;
    for (; other.done < other.count && other.at[other.done] <= other.opened; other.done++)
        other.outcomes[other.done] = fixture_run(other.f, &other.ops[other.done]);
    other.opened++;
    other.inside = false;
}

struct read_view *__wrap_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access)
{
    intrude();
    return __real_read_view_open(store, partition, access);
}

enum store_result __wrap_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence)
{
    intrude();
    return __real_store_commit(store, parts, count, now, access, ret_sequence);
}

/* ---- one case ---- */

static void seed(struct fixture *f, struct model *model, const char *const *paths)
{
    fixture_new_tree(f, TREE_CASE_EXACT);
    model_init(model);
    for (char tag = '1'; *paths && tag < '7'; paths++, tag++) {
        char path[32];
        size_t length = strlen(*paths);
        bool directory = (*paths)[length - 1] == '/';
        struct op op = { directory ? OP_MAKE_DIRECTORY : OP_MAKE_FILE, path, NULL, tag, 0 };

        (void)snprintf(path, sizeof path, "%.*s", (int)(length - directory), *paths);
        assert_int_equal(fixture_run(f, &op).result, TREE_OK);
        assert_int_equal(model_run(model, &op).result, TREE_OK);
    }
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->result == b->result && (a->result || strcmp(a->saw, b->saw) == 0);
}

/* What was seen at the end: of the tree as it is, and of the snapshot that was taken, or "". */
struct seen {
    char now[DUMP_SIZE], taken[DUMP_SIZE];
};

static struct outcome run_model(struct model *model, const struct op *op, struct seen *expected)
{
    if (op->kind == OP_SNAPSHOT)
        model_dump(model, expected->taken, sizeof expected->taken);
    return model_run(model, op);
}

/* In the order in which `first` of the others come before the operation, are these the outcomes? */
static bool explains(const struct model *before, const struct op *op, const struct outcome *outcome,
                     size_t first, const struct seen *seen)
{
    struct model model = *before;
    struct seen expected = { .taken = "" };

    for (size_t i = 0; i <= other.count; i++) {
        struct outcome now;

        if (i == first) {
            now = run_model(&model, op, &expected);
            if (!same(&now, outcome))
                return false;
        }
        if (i == other.count)
            break;
        now = run_model(&model, &other.ops[i], &expected);
        if (!same(&now, &other.outcomes[i]))
            return false;
    }
    model_dump(&model, expected.now, sizeof expected.now);
    return strcmp(expected.now, seen->now) == 0 && strcmp(expected.taken, seen->taken) == 0;
}

/* returns whether all intruders came before the operation was done */
static bool run_case(struct fixture *f, const char *const *seeds_of, const struct op *op)
{
    struct model model;
    struct outcome outcome;
    struct seen seen = { .taken = "" };
    bool explained = false, met;

    other.inside = true;
    seed(f, &model, seeds_of);
    other.inside = false;
    other.f = f;
    other.done = 0;
    other.opened = 0;
    outcome = fixture_run(f, op);
    met = other.done == other.count;
    other.inside = true;
    for (; other.done < other.count; other.done++)
        other.outcomes[other.done] = fixture_run(f, &other.ops[other.done]);
    fixture_dump(f, seen.now, sizeof seen.now);
    if (f->taken)
        fixture_dump_at(f, f->taken, seen.taken, sizeof seen.taken);
    other.inside = false;
    for (size_t first = 0; first <= other.count && !explained; first++)
        explained = explains(&model, op, &outcome, first, &seen);
    if (!explained)
        fail_msg("%d %s %s at %u, %u with %d %s %s and %d %s %s: answers %d '%s'; %d, %d; then %s, "
                 "in the snapshot %s",
                 op->kind, op->path, op->to, other.at[0], other.at[1], other.ops[0].kind,
                 other.ops[0].path, other.ops[0].to, other.count > 1 ? (int)other.ops[1].kind : -1,
                 other.count > 1 ? other.ops[1].path : "", other.count > 1 ? other.ops[1].to : "",
                 outcome.result, outcome.saw, other.outcomes[0].result, other.outcomes[1].result,
                 seen.now, seen.taken);
    return met;
}

/* ---- all cases ---- */

static const struct op operations[] = {
    { OP_FIND, "a", NULL, 0, 0 },
    { OP_FIND, "a/b/a", NULL, 0, 0 },
    { OP_FIND, "b/a", NULL, 0, 0 },
    { OP_LIST, "", NULL, 0, 0 },
    { OP_LIST, "a", NULL, 0, 0 },
    { OP_MAKE_FILE, "b", NULL, 'f', 0 },
    { OP_MAKE_FILE, "a/b", NULL, 'f', 0 },
    { OP_MAKE_FILE, "a/b/a", NULL, 'f', 0 },
    { OP_MAKE_DIRECTORY, "a", NULL, 'd', 0 },
    { OP_MAKE_DIRECTORY, "a/a", NULL, 'd', 0 },
    { OP_MAKE_DIRECTORY, "b/b", NULL, 'd', 0 },
    { OP_DELETE, "a", NULL, 0, 0 },
    { OP_DELETE, "a/b", NULL, 0, 0 },
    { OP_DELETE, "a/b/a", NULL, 0, 0 },
    { OP_DELETE, "b", NULL, 0, 0 },
    { OP_REPLACE, "a/b/a", NULL, 'r', 0 },
    { OP_REPLACE, "b", NULL, 'r', 0 },
    { OP_RENAME, "a", "b", 0, 0 },
    { OP_RENAME, "b", "a/b", 0, 0 },
    { OP_RENAME, "a", "b/a", 0, 0 },
    { OP_RENAME, "a/b", "b", 0, 0 },
    { OP_RENAME, "a", "c", 0, 0 },
    { OP_RENAME, "b", "a", 0, 0 },
    { OP_RENAME_OVER, "b/a", "a/b/a", 0, 0 },
    { OP_RENAME_OVER, "a", "b", 0, 0 },
    { OP_RENAME_OVER, "a/b", "a/a", 0, 0 },
    { OP_RENAME_OVER, "b", "a", 0, 0 },
    { OP_RENAME, "a", "a/a", 0, 0 },
    { OP_RENAME, "a", "a", 0, 0 },
    { OP_TAG, "a/b/a", NULL, 't', 0 },
    { OP_SNAPSHOT, "", NULL, 0, 0 },
};
#define OPERATIONS (sizeof operations / sizeof operations[0])
#define SEEDS      (sizeof seeds / sizeof seeds[0])
#define POINTS_MAX 64 /* far above the looks of any of them */

static void two_at_once(void **state)
{
    struct fixture *f = *state;
    struct op with;

    other.ops = &with;
    other.count = 1;
    for (size_t s = 0; s < SEEDS; s++) {
        fixture_new_store(f);
        for (size_t a = 0; a < OPERATIONS; a++)
            for (size_t b = 0; b < OPERATIONS; b++) {
                if (operations[a].kind == OP_SNAPSHOT && operations[b].kind == OP_SNAPSHOT)
                    continue; /* which of the two is looked into? */
                with = operations[b];
                with.tag = with.tag ? 'o' : '\0';
                for (other.at[0] = 0; other.at[0] < POINTS_MAX; other.at[0]++)
                    if (!run_case(f, seeds[s], &operations[a]))
                        break;
                assert_true(other.at[0] < POINTS_MAX);
            }
    }
}

/* The second at each point from that of the first on. returns whether there was any */
static bool pairs_with(struct fixture *f, const char *const *seeds_of, const struct op *op)
{
    for (other.at[1] = other.at[0]; other.at[1] < POINTS_MAX; other.at[1]++)
        if (!run_case(f, seeds_of, op))
            return other.at[1] > other.at[0];
    fail();
    return false;
}

/* The second waits for the first: what is made below a directory that has moved before is below it, and
 * no path that never was is found. */
static void two_after_each_other_beside_one(void **state)
{
    static const struct op beside[] = {
        { OP_FIND, "a/b/a", NULL, 0, 0 },        { OP_FIND, "b/a", NULL, 0, 0 },
        { OP_MAKE_FILE, "a/b/a", NULL, 'f', 0 }, { OP_DELETE, "a/b/a", NULL, 0, 0 },
        { OP_DELETE, "a/b", NULL, 0, 0 },        { OP_LIST, "a/b", NULL, 0, 0 },
        { OP_RENAME, "b", "a/b/a", 0, 0 },       { OP_RENAME_OVER, "b/a", "a/b/a", 0, 0 },
    };
    static const struct op first[] = {
        { OP_RENAME, "a", "c", 0, 0 },
        { OP_RENAME, "a/b", "c", 0, 0 },
        { OP_DELETE, "a/b/a", NULL, 0, 0 },
        { OP_RENAME, "a", "b/b", 0, 0 },
    };
    static const struct op second[] = {
        { OP_MAKE_FILE, "c/b/a", NULL, 'n', 0 },  { OP_DELETE, "c/b/a", NULL, 0, 0 },
        { OP_MAKE_DIRECTORY, "a", NULL, 'n', 0 }, { OP_MAKE_FILE, "c/a", NULL, 'n', 0 },
        { OP_DELETE, "a/b", NULL, 0, 0 },         { OP_RENAME, "c", "a", 0, 0 },
        { OP_SNAPSHOT, "", NULL, 0, 0 },
    };
    struct fixture *f = *state;
    struct op with[2];

    other.ops = with;
    other.count = 2;
    for (size_t s = 2; s < SEEDS; s++) {
        fixture_new_store(f);
        for (size_t i = 0; i < 8 * 4 * 7; i++) {
            with[0] = first[i / 7 % 4];
            with[1] = second[i % 7];
            for (other.at[0] = 0; pairs_with(f, seeds[s], &beside[i / 28]); other.at[0]++)
                assert_true(other.at[0] < POINTS_MAX);
        }
    }
}

/* One read of a snapshot, with changes and the end of the snapshot before its nth look. returns whether they
 * came before it was done */
static bool read_beside_end(struct fixture *f, const char *const *seeds_of, struct op read)
{
    static const struct op ends[] = { { OP_RENAME, "a", "c", 0, 0 }, { OP_END, "", NULL, 0, 0 } };
    struct model model;
    struct outcome outcome, wanted;

    other.inside = true;
    seed(f, &model, seeds_of);
    assert_int_equal(fixture_run(f, &(struct op){ OP_SNAPSHOT, "", NULL, 0, 0 }).result, TREE_OK);
    read.at = f->taken;
    wanted = model_run(&model, &read);
    fixture_run(f, &(struct op){ OP_DELETE, "a/b/a", NULL, 0, 0 });
    fixture_run(f, &(struct op){ OP_TAG, "a/b", NULL, 'n', 0 });
    other.inside = false;
    other.f = f;
    other.ops = ends;
    other.count = 2;
    other.done = 0;
    other.opened = 0;
    outcome = fixture_run(f, &read);
    /* Who looks the snapshot up again finds it gone. The fixture does not, and gives up. */
    if (outcome.result == TREE_FAILED) {
        assert_int_equal(outcome.error, E_ServerBusy);
        assert_int_equal(other.done, 2);
    } else if (!same(&outcome, &wanted)) {
        fail_msg("%d %s at %u: %d '%s', expected %d '%s'", read.kind, read.path, other.at[0],
                 outcome.result, outcome.saw, wanted.result, wanted.saw);
    }
    return other.done == 2;
}

/* Rule: who reads a snapshot sees all of it, until it is gone. tree invariant 4 */
static void a_snapshot_that_ends_is_gone_or_whole(void **state)
{
    static const struct op reads[] = {
        { OP_FIND, "a/b/a", NULL, 0, 0 }, { OP_FIND, "a/b", NULL, 0, 0 },
        { OP_FIND, "b", NULL, 0, 0 },     { OP_LIST, "a", NULL, 0, 0 },
        { OP_LIST, "a/b", NULL, 0, 0 },   { OP_LIST, "", NULL, 0, 0 },
    };

    for (size_t s = 2; s < SEEDS; s++)
        for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
            for (other.at[0] = other.at[1] = 0; read_beside_end(*state, seeds[s], reads[i]);)
                assert_true(++other.at[0] < POINTS_MAX && ++other.at[1] < POINTS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_at_once, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(two_after_each_other_beside_one, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_snapshot_that_ends_is_gone_or_whole, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
