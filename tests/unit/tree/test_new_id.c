/* What ids are drawn from. However often the attempt of a create is repeated, it asks for one new partition (decision 770): on the
 * late store, where each read waits, and loses what it has read now and then. And what was drawn may be another's by
 * then, also that of the node which is replaced (decision 842). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "service/deciding.h"

#define CREATES  40
#define KEYS_MAX 64u

struct snapshot *__real_snapshot_open(struct store *store, struct partition partition,
                                      struct store_access access);
struct snapshot *__wrap_snapshot_open(struct store *store, struct partition partition,
                                      struct store_access access);

/* The partitions that were opened, each once. */
static struct {
    uint64_t keys[KEYS_MAX];
    unsigned count, opened;
} seen;

struct snapshot *__wrap_snapshot_open(struct store *store, struct partition partition,
                                      struct store_access access)
{
    uint64_t key = 0;
    unsigned i = 0;

    memcpy(&key, partition.key.ptr,
           partition.key.len < sizeof key ? partition.key.len : sizeof key);
    while (i < seen.count && seen.keys[i] != key)
        i++;
    if (i == seen.count && i < KEYS_MAX)
        seen.keys[seen.count++] = key;
    seen.opened++;
    return __real_snapshot_open(store, partition, access);
}

static void create_all(struct fixture *f, enum op_kind kind)
{
    for (unsigned i = 0; i < CREATES; i++) {
        char path[32];

        (void)snprintf(path, sizeof path, "d/%c%u", kind == OP_MAKE_FILE ? 'f' : 'd', i);
        memset(&seen, 0, sizeof seen);
        fixture_do(f, kind, path, NULL);
        assert_true(seen.count <= 4); /* the tree's own, the root, "d", and the new one */
        assert_true(seen.opened > seen.count);
    }
}

static void a_create_asks_for_one_new_partition(void **state)
{
    struct fixture *f = *state;

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_DIRECTORY, "d", NULL);
    create_all(f, OP_MAKE_FILE);
    create_all(f, OP_MAKE_DIRECTORY);
}

struct replacing {
    struct fixture *f;
    uint64_t before, after; /* ids of the file */
    bool parts_differ;
};

/* As if the file had been made by another decision, which has drawn the same, after this one had. */
static enum error replace_what_was_drawn(struct decision *d, void *of)
{
    struct replacing *r = of;
    struct decision_part *old, *made;
    struct tree_place place;
    struct tree_path path;
    struct tree tree;

    if (tree_open(&tree, d, r->f->space, r->f->rule))
        return decision_fail_store(d, tree.failed);
    decision_read_clock(d);
    assert_int_equal(tree_path_parse(d->arena, tree.rule, bytes_from_string("a"), &path), 0);
    if (tree_find(&tree, &path, TREE_TO_CHANGE, &place))
        return decision_fail_store(d, tree.failed);
    r->before = place.entry.id;
    d->drawn = (instant)place.entry.id; /* in the root ids have nothing else */
    if (tree_replace(&tree, &place, &old, &made))
        return decision_fail_store(d, tree.failed);
    r->after = place.entry.id;
    r->parts_differ = old != made && old->before != made->before;
    return OK;
}

static void what_was_drawn_is_taken_by_what_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new(1u << 20);
    struct problem problem = { .detail = NULL };
    struct replacing replacing = { .f = f };
    struct decision d;

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_FILE, "a", NULL);
    d = fixture_decision(f, arena, &problem);
    assert_int_equal(deciding_run_unawaited(&d, replace_what_was_drawn, &replacing), OK);
    deciding_end(&d);
    assert_true(replacing.parts_differ);
    assert_true(replacing.after > replacing.before);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_drawn_is_taken_by_what_is_replaced, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_create_asks_for_one_new_partition, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
