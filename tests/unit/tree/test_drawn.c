/* Rule: however often the attempt of a create is repeated, it asks for one new partition (decision 770). On the late store,
 * where each read waits, and loses what it has read now and then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_create_asks_for_one_new_partition, fixture_set_up,
                                        fixture_tear_down),
    };

    (void)setenv("LAGRA_TREE_STORE", "late", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
