/* How many snapshots a page blob may ever have had: at the bound, below it and above it. keep_blob.c, incremental_copy.c */
#include "fixture.h"

#include "blob/keep_blob.h"

/* EPOCH_MAX in keep_blob.c: generations of a sparse content are numbered with 32 bits. */
#define NEWEST (UINT32_MAX - 2)

static enum error keep(uint32_t epoch, unsigned count)
{
    struct arena *arena = arena_new(1u << 20);
    struct decision d = { .arena = arena, .changes = changes_new(arena) };
    struct content base = {
        .id = 1, .stamp = 1, .length = 512, .form = CONTENT_SPARSE, .epoch = epoch
    };
    struct content kept[2];
    enum error e = keep_shared(&d, &base, count, kept);

    if (!e)
        assert_int_equal(base.epoch, epoch + count);
    arena_free(arena);
    return e;
}

static void generations(void **state)
{
    (void)state;
    assert_int_equal(keep(NEWEST - 2, 1), OK);
    assert_int_equal(keep(NEWEST - 1, 1), OK);
    assert_int_equal(keep(NEWEST, 1), E_SnapshotCountExceeded);
    assert_int_equal(keep(NEWEST - 2, 2), OK);
    assert_int_equal(keep(NEWEST - 1, 2), E_SnapshotCountExceeded);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(generations) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
