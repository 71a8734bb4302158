/* lagra check on RADOS: what is damaged is said, what is whole is not, and a store that is served is left alone.
 * store/inspect.h, on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../rados/live.h"
#include "store/inspect.h"
#include "store/piece.h"
#include "store/rados/blocking.h"
#include "store/rados/inspect_leftovers.h"
#include "store/rados/open.h"
#include "store/rados/root.h"
#include "store/rados/row_key.h"
#include "store/rados/shard_rows.h"

#define B(s)        bytes_from_string(s)
#define PIECE_BYTES 5000u
#define RECORDS     3u

struct fixture {
    struct live *live;
    struct store *store;
    struct arena *arena;
    struct partition partition;
    struct piece piece;
    unsigned visited, said;
    char last[400];
};

static void visit(void *context, const struct record_place *place, const struct record *record)
{
    struct fixture *f = context;

    assert_true(guid_equal(&place->space, &f->partition.space));
    assert_true(bytes_equal(place->partition_key, f->partition.key));
    assert_true(bytes_is(record->value, "v"));
    f->visited++;
}

static void say(void *context, const char *sentence)
{
    struct fixture *f = context;

    f->said++;
    snprintf(f->last, sizeof f->last, "%s", sentence);
}

static enum store_result inspect(struct fixture *f)
{
    f->visited = f->said = 0;
    f->last[0] = '\0';
    return store_inspect(f->store, visit, say, f);
}

static struct stage *stage(struct fixture *f)
{
    struct stage *stage = stage_open(f->store, f->partition, PIECE_BYTES);
    char *bytes = calloc(1, PIECE_BYTES);
    size_t taken, count;

    assert_int_equal(stage_write(stage, bytes_of(bytes, PIECE_BYTES), NULL, &taken), STORE_OK);
    assert_int_equal(taken, PIECE_BYTES);
    assert_int_equal(stage_finish(stage, NULL), STORE_OK);
    f->piece = *stage_pieces(stage, &count);
    assert_int_equal(count, 1);
    free(bytes);
    return stage;
}

/* Two LISTED records, one with a piece, and an INNER one. */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct changes *changes;
    struct snapshot *snapshot;
    struct stage *staged;
    uint64_t sequence;

    f->live = live_new((struct fake_options){ .seed = 5 });
    f->store = live_open(live_port(f->live), 0);
    f->arena = arena_new(64u << 20);
    f->partition = (struct partition){ guid_new(), B("partition") };
    changes = changes_new(f->arena);
    staged = stage(f);
    changes_put(changes, RECORD_LISTED, B("a"), B("v"), &f->piece, 1);
    changes_put(changes, RECORD_LISTED, B("b"), B("v"), NULL, 0);
    changes_put(changes, RECORD_INNER, B("c"), B("v"), NULL, 0);
    snapshot = snapshot_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(snapshot);
    stage_close(staged);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    store_close(f->store);
    live_free(f->live);
    arena_free(f->arena);
    free(f);
    return 0;
}

static void write_row(struct fixture *f, struct bytes key, struct bytes value)
{
    struct port_op *op = arrival_op();
    char object[SHARD_NAME_SIZE];

    shard_name(&f->partition.space, partition_lane(&f->partition.space, f->partition.key), 0,
               object);
    port_set(op, key, value);
    assert_int_equal(run_block(live_port(f->live), object, op), PORT_OK);
}

/* Rule: every record of a store is visited once, and nothing is said of one that is whole. */
static void whole(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(inspect(f), STORE_OK);
    assert_int_equal(f->visited, RECORDS);
    assert_string_equal(f->last, "");
}

/* Rule: a damaged record is said, and so is the piece that it alone has named. The others are visited. */
static void damaged_record(void **state)
{
    struct fixture *f = *state;

    write_row(f, row_key_record(f->arena, RECORD_LISTED, f->partition.key, B("b")),
              B("not summed"));
    assert_int_equal(inspect(f), STORE_OK);
    assert_int_equal(f->visited, RECORDS - 1);
    assert_int_equal(f->said, 1);
    assert_non_null(strstr(f->last, "a record makes no sense"));
    write_row(f, row_key_record(f->arena, RECORD_LISTED, f->partition.key, B("a")),
              B("not summed"));
    assert_int_equal(inspect(f), STORE_OK);
    assert_int_equal(f->said, 3);
    assert_non_null(strstr(f->last, "counts 1 references"));
    assert_non_null(strstr(f->last, "records have 0"));
}

/* Rule: a row that counts other references than records have is said; else a piece would be deleted that is read. */
static void miscounted_piece(void **state)
{
    struct fixture *f = *state;
    struct bytes key = row_key_piece(f->arena, f->partition.key, f->piece.extent, f->piece.offset);
    char row[12] = { 0 };

    row[7] = 2;
    row[10] = (char)(PIECE_BYTES >> 8);
    row[11] = (char)(PIECE_BYTES & 0xff);
    write_row(f, key, row_value_write(f->arena, bytes_of(row, sizeof row)));
    assert_int_equal(inspect(f), STORE_OK);
    assert_int_equal(f->said, 1);
    assert_non_null(strstr(f->last, "counts 2 references"));
    assert_non_null(strstr(f->last, "records have 1"));
}

/* Rule: a piece that no record refers to is found, unless a row elsewhere names it, or a task that deletes it. */
static void left_over(void **state)
{
    struct fixture *f = *state;
    struct piece committed = f->piece;
    struct stage *unused = stage(f);
    struct suspects *suspects = suspects_find(rados_of(f->store));

    suspects_clear(suspects, committed.extent, (uint64_t)committed.offset);
    assert_int_equal(suspects_end(suspects), 1);
    suspects = suspects_find(rados_of(f->store));
    suspects_clear(suspects, f->piece.extent, (uint64_t)f->piece.offset);
    assert_int_equal(suspects_end(suspects), 0);
    stage_close(unused);
}

/* Rule: while another front end lives nothing is looked at. One that has ended well leaves no sign of life. */
static void served(void **state)
{
    struct fixture *f = *state;
    struct store *other = live_open(live_client(f->live), 0);

    for (unsigned tries = 0; inspect(f) != STORE_BUSY && tries < 5000; tries++)
        ; /* until its first heartbeat */
    assert_int_equal(inspect(f), STORE_BUSY);
    assert_int_equal(f->visited, 0);
    assert_int_equal(f->said, 0);
    store_close(other);
    assert_int_equal(inspect(f), STORE_OK);
    assert_int_equal(f->visited, RECORDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(miscounted_piece, set_up, tear_down),
        cmocka_unit_test_setup_teardown(left_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(served, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
