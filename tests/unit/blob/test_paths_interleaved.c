/* Interleaved requests for paths of a hierarchical container: while a request is decided, another one is executed
 * between any two of its reads of a partition. Both responses and the contents of the container are the same as if one
 * request was executed after the other. blob/namespace.h, blob/path_operations.h, blob/list_tree.h */
#include "paths.h"

#include <limits.h>
#include <stdio.h>

#include "blob/container_root.h"

#define TEXT_SIZE 512

enum kind {
    PUT,
    DELETE,
    MAKE,
    REMOVE,
    RENAME,
    LIST,
    LIST_ROOT,
    READ,
    SWAP,
    REPLACE,
    RESTORE,
    LIST_ALL,
    FIND,
    LIST_BAG,
    CREATE_CONTAINER,
    DELETE_CONTAINER
};

struct op {
    enum kind kind;
    const char *path, *to;
};

struct outcome {
    enum error e;
    char saw[TEXT_SIZE];
};

static const char *const files[] = { "a/b", "a/x/yy", "c" };

static const struct op operations[] = {
    { PUT, "a/b", NULL },
    { PUT, "c", NULL },
    { PUT, "a/n/m/o", NULL },
    { PUT, "d/n", NULL },
    { DELETE, "a/b", NULL },
    { DELETE, "a/x/yy", NULL },
    { DELETE, "a/x", NULL },
    { MAKE, "a/x", NULL },
    { MAKE, "d", NULL },
    { REMOVE, "a", NULL },
    { REMOVE, "a/x", NULL },
    { RENAME, "a", "d" },
    { RENAME, "a/x", "d" },
    { RENAME, "a/b", "c" },
    { RENAME, "c", "a/b" },
    { RENAME, "c", "a/x/n" },
    { RENAME, "d", "a/d" },
    { LIST, NULL, NULL },
    { LIST_ROOT, NULL, NULL },
    { READ, "a/b", NULL },
    { READ, "d/b", NULL },
    { READ, "c", NULL },
    { RENAME, "a/x/n", "c" },
    { RENAME, "d/n", "d/m" },
    { RENAME, "d", "a" },
    { PUT, "d/n/o", NULL },
    { RENAME, "d/n/o", "d/n/m" },
    { RENAME, "e", "a/b" },
    { RENAME, "a/n/m/o", "a/n/m/p" },
};
#define OPERATIONS (sizeof operations / sizeof operations[0])
/* Two requests, between which nothing else happens, so that one of the files always exists, or never both. Only executed
 * inside others. */
static const struct op pairs[] = { { SWAP, "c", "e" }, { REPLACE, "a/b", "e" } };
#define PAIRS (sizeof pairs / sizeof pairs[0])

/* With soft delete: "a/g", "h", and "k" with "k/l" have been deleted. */
static const struct op kept_operations[] = {
    { RESTORE, "a/g", NULL }, { RESTORE, "h", NULL }, { RESTORE, "k", NULL },
    { RESTORE, "c", NULL },   { PUT, "a/g", NULL },   { PUT, "c", NULL },
    { DELETE, "c", NULL },    { MAKE, "k", NULL },    { REMOVE, "a", NULL },
    { REMOVE, "a/x", NULL },  { RENAME, "c", "h" },   { RENAME, "c", "a/b" },
    { RENAME, "a", "k" },     { RENAME, "a/x", "e" }, { LIST_ALL, NULL, NULL },
    { LIST, NULL, NULL },     { READ, "a/g", NULL },  { READ, "k/l", NULL },
};
/* Of the containers "box" and "bag". */
static const struct op shared_operations[] = {
    { PUT, "bag:c", NULL },
    { PUT, "a/b", NULL },
    { RENAME, "a/b", "bag:c" },
    { RENAME, "a", "bag:d" },
    { RENAME, "bag:g", "a/b" },
    { RENAME, "bag:h", "d" },
    { RENAME, "bag:h", "a/x/h" },
    { DELETE, "a/b", NULL },
    { REMOVE, "a", NULL },
    { REMOVE, "bag:h", NULL },
    { MAKE, "bag:d", NULL },
    { READ, "bag:g", NULL },
    { READ, "a/b", NULL },
    { LIST, NULL, NULL },
    { LIST_BAG, NULL, NULL },
    { CREATE_CONTAINER, "bag", NULL },
    { DELETE_CONTAINER, "bag", NULL },
    { DELETE_CONTAINER, "box", NULL },
};
#define SHARED_OPERATIONS (sizeof shared_operations / sizeof shared_operations[0])
#define KEPT_OPERATIONS   (sizeof kept_operations / sizeof kept_operations[0])
/* All files have a tag; directories have none. */
static const struct op tagged_operations[] = {
    { FIND, NULL, NULL },      { PUT, "c", NULL },       { DELETE, "a/b", NULL },
    { DELETE, "c", NULL },     { REMOVE, "a", NULL },    { REMOVE, "a/x", NULL },
    { RENAME, "a", "d" },      { RENAME, "a/x", "d" },   { RENAME, "a/b", "c" },
    { RENAME, "c", "a/b" },    { RENAME, "c", "a/x/n" }, { RENAME, "a/x/yy", "c" },
    { RENAME, "c", "a/x/yy" },
};
#define TAGGED_OPERATIONS (sizeof tagged_operations / sizeof tagged_operations[0])
#define POINTS_MAX        100 /* far above the reads of any request */

static struct outcome run_op(struct fixture *f, const struct op *op, const char *text)
{
    struct outcome outcome = { .saw = "" };

    switch (op->kind) {
    case PUT:
        outcome.e = put_path(f, op->path, text);
        break;
    case DELETE:
        outcome.e = delete_path(f, op->path);
        break;
    case MAKE:
        outcome.e = create_directory(f, op->path);
        break;
    case REMOVE:
        outcome.e = delete_directory(f, op->path, true);
        break;
    case RENAME:
        outcome.e = rename_path(f, op->path, op->to, NULL);
        break;
    case LIST_BAG:
        outcome.e = list_paths_of(f, "bag", 100, false, outcome.saw, sizeof outcome.saw);
        break;
    case CREATE_CONTAINER:
    case DELETE_CONTAINER:
        (void)snprintf(outcome.saw, sizeof outcome.saw, "%s",
                       askf(f, NULL, NULL, "%s /%s?restype=container",
                            op->kind == CREATE_CONTAINER ? "PUT" : "DELETE", op->path)
                           .code);
        break;
    case LIST:
    case LIST_ALL:
        outcome.e = list_paths(f, 100, op->kind == LIST_ALL, outcome.saw, sizeof outcome.saw);
        break;
    case FIND:
        outcome.e = find_tagged(f, outcome.saw, sizeof outcome.saw);
        break;
    case RESTORE:
        outcome.e = undelete_path(f, op->path);
        break;
    case LIST_ROOT:
        outcome.e = list_root(f, outcome.saw, sizeof outcome.saw);
        break;
    case SWAP:
        outcome.e = put_path(f, op->to, text);
        if (!outcome.e)
            outcome.e = delete_path(f, op->path);
        break;
    case REPLACE:
        outcome.e = delete_path(f, op->path);
        if (!outcome.e)
            outcome.e = create_directory(f, op->to);
        break;
    case READ:
        outcome.e = read_path(f, op->path, outcome.saw, sizeof outcome.saw);
        break;
    }
    if (outcome.e)
        outcome.saw[0] = '\0';
    return outcome;
}

/* ---- the intruder ---- */

static struct {
    struct fixture *f;
    const struct op *op;
    unsigned opened, at; /* before the nth read */
    bool inside, is_done;
    struct outcome outcome;
} other = { .inside = true };

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

struct index_iterator *__wrap_index_iterator_open(struct store *store, struct guid space,
                                                  struct bytes prefix, struct bytes from,
                                                  struct bytes from_partition,
                                                  struct store_access access);
struct index_iterator *__real_index_iterator_open(struct store *store, struct guid space,
                                                  struct bytes prefix, struct bytes from,
                                                  struct bytes from_partition,
                                                  struct store_access access);

static void intrude(void)
{
    if (other.inside)
        return;
    other.inside = true;
    if (other.at == other.opened++) {
        other.outcome = run_op(other.f, other.op, "other");
        other.is_done = true;
    }
    other.inside = false;
}

struct read_view *__wrap_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access)
{
    intrude();
    return __real_read_view_open(store, partition, access);
}

struct index_iterator *__wrap_index_iterator_open(struct store *store, struct guid space,
                                                  struct bytes prefix, struct bytes from,
                                                  struct bytes from_partition,
                                                  struct store_access access)
{
    intrude();
    return __real_index_iterator_open(store, space, prefix, from, from_partition, access);
}

enum store_result __wrap_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence)
{
    intrude();
    return __real_store_commit(store, parts, count, now, access, ret_sequence);
}

/* ---- one case ---- */

/* Responses to two operations, and the contents at the end. */
struct history {
    struct outcome first, second;
    char end[TEXT_SIZE];
};

static void delete_some(struct fixture *f)
{
    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>"
                  "<Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>"),
              202);
    assert_int_equal(put_path(f, "a/g", "deleted"), OK);
    assert_int_equal(put_path(f, "h", "deleted"), OK);
    assert_int_equal(put_path(f, "k/l", "deleted"), OK);
    assert_int_equal(delete_path(f, "a/g"), OK);
    assert_int_equal(delete_path(f, "h"), OK);
    assert_int_equal(delete_directory(f, "k", true), OK);
}

static void tag_all(struct fixture *f)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_ok(askf(f, NULL,
                       "<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>",
                       "PUT /box/%s?comp=tags", files[i]),
                  204);
}

/* What exists besides the files. */
enum start { FILES_ONLY, KEEPS_DELETED, TAGGED, TWO_CONTAINERS };

static struct fixture *begin(enum start start)
{
    void *state;

    assert_int_equal(
        (start == TWO_CONTAINERS ? fixture_setup_filesystems : fixture_setup_hierarchical)(&state),
        0);
    if (start == TWO_CONTAINERS) {
        assert_int_equal(put_path(state, "bag:g", "of bag"), OK);
        assert_int_equal(put_path(state, "bag:h/i", "in bag"), OK);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_int_equal(put_path(state, files[i], files[i]), OK);
    if (start == KEEPS_DELETED)
        delete_some(state);
    if (start == TAGGED)
        tag_all(state);
    return state;
}

/* Adds what a container has, or that it does not exist. */
static void add_end(struct fixture *f, const char *container, char *text, size_t size)
{
    char has[TEXT_SIZE];
    enum error e = list_paths_of(f, container, 2, true, has, sizeof has);
    size_t at = strlen(text);

    (void)snprintf(text + at, size - at, "%s%s", at > 0 ? " | " : "", e ? error_code(e) : has);
}

/* Counts the files and directories in the tree that the containers share, also those that no path reaches. */
static unsigned count_blobs(struct fixture *f)
{
    struct space_iterator *iterator = space_iterator_open(
        store_of(f), container_shared_space(bytes_from_string(DEVELOPMENT_ACCOUNT)),
        bytes_of("", 0), bytes_of("", 0), STORE_MAY_BLOCK);
    struct space_record record;
    unsigned count = 0;

    while (space_iterator_next(iterator, &record) == STORE_OK)
        count += bytes_is(record.record_key, "\xFF");
    space_iterator_close(iterator);
    return count;
}

static void end(struct fixture *f, struct history *history)
{
    void *state = f;
    size_t at;

    history->end[0] = '\0';
    add_end(f, "box", history->end, sizeof history->end);
    add_end(f, "bag", history->end, sizeof history->end);
    run_due(store_of(f));
    at = strlen(history->end);
    (void)snprintf(history->end + at, sizeof history->end - at, " | %u", count_blobs(f));
    assert_int_equal(fixture_teardown(&state), 0);
}

static bool same_outcome(const struct outcome *a, const struct outcome *b)
{
    return a->e == b->e && strcmp(a->saw, b->saw) == 0;
}

static bool same(const struct history *a, const struct history *b)
{
    return same_outcome(&a->first, &b->first) && same_outcome(&a->second, &b->second) &&
           strcmp(a->end, b->end) == 0;
}

static struct history one_after_the_other(const struct op *first, const struct op *second,
                                          bool reversed, enum start start)
{
    struct fixture *f = begin(start);
    struct history history;

    if (reversed)
        history.second = run_op(f, second, "other");
    history.first = run_op(f, first, "first one");
    if (!reversed)
        history.second = run_op(f, second, "other");
    end(f, &history);
    return history;
}

/* Returns whether the intruder ran before the operation had ended. */
static bool run_case(const struct op *op, const struct op *with, const struct history *allowed,
                     enum start start)
{
    struct history history;
    struct fixture *f = begin(start);

    other.f = f;
    other.op = with;
    other.opened = 0;
    other.is_done = false;
    other.inside = false;
    history.first = run_op(f, op, "first one");
    other.inside = true;
    history.second = other.outcome;
    if (!other.is_done) {
        history.second = run_op(f, with, "other");
        end(f, &history);
        return false;
    }
    end(f, &history);
    if (!same(&history, &allowed[0]) && !same(&history, &allowed[1]))
        fail_msg("%d %s %s with %d %s %s at %u: %s '%s', %s '%s'; then '%s'", op->kind, op->path,
                 op->to, with->kind, with->path, with->to, other.at, error_code(history.first.e),
                 history.first.saw, error_code(history.second.e), history.second.saw, history.end);
    return true;
}

static void run_all(const struct op *ops, size_t count, enum start start)
{
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count + PAIRS; b++) {
            const struct op *op = &ops[a], *with = b < count ? &ops[b] : &pairs[b - count];
            const struct history allowed[] = { one_after_the_other(op, with, false, start),
                                               one_after_the_other(op, with, true, start) };

            for (other.at = 0; run_case(op, with, allowed, start); other.at++)
                assert_true(other.at < POINTS_MAX);
            assert_true(other.at > 1 || op->kind == CREATE_CONTAINER);
        }
}

static void two_at_once(void **state)
{
    (void)state;
    run_all(operations, OPERATIONS, FILES_ONLY);
}

static void two_at_once_with_deleted_paths(void **state)
{
    (void)state;
    run_all(kept_operations, KEPT_OPERATIONS, KEEPS_DELETED);
}

static void two_at_once_in_two_containers(void **state)
{
    (void)state;
    run_all(shared_operations, SHARED_OPERATIONS, TWO_CONTAINERS);
}

static void two_at_once_with_tags(void **state)
{
    (void)state;
    run_all(tagged_operations, TAGGED_OPERATIONS, TAGGED);
}

/* ---- cost ---- */

static unsigned looks_of(struct fixture *f, const struct op *op)
{
    other.at = UINT_MAX;
    other.opened = 0;
    other.inside = false;
    assert_int_equal(run_op(f, op, "x").e, OK);
    other.inside = true;
    return other.opened;
}

/* Rule: the number of partitions read and of commits for a rename or a recursive delete of a directory does not depend
 * on its contents. issue 47 */
static void cost_does_not_depend_on_contents(void **state)
{
    static const struct op renames = { RENAME, "a", "e" }, removes = { REMOVE, "e", NULL };
    unsigned looks[2][2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct fixture *f = begin(FILES_ONLY);
        struct history history;

        assert_int_equal(put_path(f, "r/f", "x"),
                         OK); /* the first one creates the hidden directory */
        assert_int_equal(delete_directory(f, "r", true), OK);
        for (unsigned n = 0; n < i * 1000; n++) {
            char name[32];

            (void)snprintf(name, sizeof name, "a/%u/%u", n % 10, n);
            assert_int_equal(put_path(f, name, "x"), OK);
        }
        looks[i][0] = looks_of(f, &renames);
        looks[i][1] = looks_of(f, &removes);
        end(f, &history);
        assert_string_equal(history.end, "c:1 | ContainerNotFound | 0");
    }
    assert_int_equal(looks[0][0], looks[1][0]);
    assert_int_equal(looks[0][1], looks[1][1]);
}

/* Rule: nor does that for a deletion that is retained, and for its restoration. */
static void retaining_does_not_depend_on_contents(void **state)
{
    static const struct op removes = { REMOVE, "a", NULL }, restores = { RESTORE, "a", NULL };
    unsigned looks[2][2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct fixture *f = begin(KEEPS_DELETED);
        struct history history;

        for (unsigned n = 0; n < i * 1000; n++) {
            char name[32];

            (void)snprintf(name, sizeof name, "a/%u/%u", n % 10, n);
            assert_int_equal(put_path(f, name, "x"), OK);
            (void)snprintf(name, sizeof name, "a%u", n);
            assert_int_equal(put_path(f, name, "x"), OK);
            assert_int_equal(delete_path(f, name), OK);
        }
        looks[i][0] = looks_of(f, &removes);
        looks[i][1] = looks_of(f, &restores);
        assert_int_equal(delete_directory(f, "a", true), OK);
        assert_int_equal(list_paths(f, 5000, false, history.end, sizeof history.end), OK);
        assert_string_equal(history.end, "c:1");
        run_due(store_of(f));
        assert_int_equal(fixture_teardown((void **)&f), 0);
    }
    assert_int_equal(looks[0][0], looks[1][0]);
    assert_int_equal(looks[0][1], looks[1][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(two_at_once_with_deleted_paths),
        cmocka_unit_test(two_at_once_in_two_containers),
        cmocka_unit_test(two_at_once_with_tags),
        cmocka_unit_test(cost_does_not_depend_on_contents),
        cmocka_unit_test(retaining_does_not_depend_on_contents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
