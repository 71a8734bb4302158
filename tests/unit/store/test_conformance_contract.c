/* What store.h promises about access, instants, limits and durable sequences. */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

/* Rule: read_view_instant() is at least the instant of every commit of the partition, also when the
 * clock was behind, and each commit raises it. store.h */
static void instants_are_known(void **state)
{
    struct fixture *f = *state;
    instant ahead = clock_now() + 60 * TICKS_PER_SECOND;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("a"), bytes_from_string("1"), NULL, 0);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1, ahead,
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    put_text(f->store, f->partition, "a", "2"); /* now, which is earlier */
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(read_view_instant(snapshot) > ahead);
    read_view_close(snapshot);
    if (!f->engine->on_disk)
        return;
    wait_durable(f->store, sequence);
    fixture_reopen(f);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(read_view_instant(snapshot) >= ahead);
    read_view_close(snapshot);
}

/* Rule: a change of access does not change what is read. */
static void reads_are_the_same_however_announced(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;

    put_text(f->store, f->partition, "a", "1");
    snapshot = read_view_open(f->store, f->partition, STORE_NO_WAIT);
    read_view_set_access(snapshot, STORE_MAY_BLOCK);
    put_text(f->store, f->partition, "a", "2");
    assert_string_equal(get_text(snapshot, f->arena, "a"), "1");
    read_view_close(snapshot);
}

/* Rule: a record as large as the limits allow is stored and read. */
static void largest_records_are_kept(void **state)
{
    struct fixture *f = *state;
    char *text = xmalloc(STORE_RECORD_BYTES);

    memset(text, 'x', STORE_RECORD_BYTES - 2);
    text[STORE_RECORD_BYTES - 2] = 0;
    put_text(f->store, f->partition, "a", text);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "a"), text);
    free(text);
}

/* Rule: what was waited for is durable. store invariant 3 */
static void waited_for_is_durable(void **state)
{
    struct fixture *f = *state;
    uint64_t sequence = put_text(f->store, f->partition, "a", "1");

    wait_durable(f->store, sequence);
    assert_int_equal(store_durable(f->store, sequence), STORE_OK);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(instants_are_known, EVERY_STORE),
        TEST(reads_are_the_same_however_announced, EVERY_STORE),
        TEST(largest_records_are_kept, EVERY_STORE),
        TEST(waited_for_is_durable, EVERY_STORE),
    };

    return conformance_run("contract", tests, sizeof tests / sizeof tests[0]);
}
