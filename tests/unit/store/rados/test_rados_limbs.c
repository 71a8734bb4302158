/* Limbs: a partition whose records lie in several objects is as one that lies in one, whatever is cut meanwhile, and wherever
 * who cuts it dies. store/rados/limb.h, limb_cut.h, on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../rados/live.h"
#include "store/inspect.h"
#include "store/rados/blocking.h"
#include "store/rados/limb.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"
#include "store/rados/split_shard.h"

#define B(s) bytes_from_string(s)

/* Front ends that are cut off leave what they had in memory. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

enum { PARTITIONS = 2, FAMILIES = 2, KEYS = 60, ROWS = 8, OBJECTS = 512 };

struct fixture {
    struct live *live;
    struct port *port;
    struct store *store;
    struct arena *arena;
    struct guid space; /* of one lane */
    char object[SHARD_NAME_SIZE];
    unsigned values[PARTITIONS][FAMILIES][KEYS]; /* 0: no record */
    unsigned newest;
    uint64_t random;
    unsigned said, visited;
    char last[400];
};

static struct store *open_store(struct port *port)
{
    return live_open_with(port, (struct rados_options){ .grace_ticks = 1 });
}

static struct fixture *fixture_new(uint64_t seed)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->live = live_new((struct fake_options){ .seed = seed, .resent = 12, .late = 6 });
    f->port = live_port(f->live);
    f->store = open_store(f->port);
    f->arena = arena_new(256u << 20);
    f->space = (struct guid){ { (uint8_t)seed, 9 } };
    f->random = seed * 2654435761u + 1;
    shard_name(&f->space, 0, 0, f->object);
    return f;
}

static void fixture_free(struct fixture *f)
{
    if (f->store)
        store_close(f->store);
    live_free(f->live);
    arena_free(f->arena);
    free(f);
}

static int set_up(void **state)
{
    *state = fixture_new(3);
    return 0;
}

static int tear_down(void **state)
{
    fixture_free(*state);
    return 0;
}

static unsigned draw(struct fixture *f, unsigned below)
{
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(f->random >> 33) % below;
}

/* ---- changing ---- */

static struct partition partition_of(const struct fixture *f, unsigned number)
{
    return (struct partition){ f->space, arena_printf(f->arena, "p%u", number) };
}

static struct bytes key_of(const struct fixture *f, unsigned key)
{
    return arena_printf(f->arena, "r%02u", key);
}

/* One commit over both partitions, however often it takes. */
static void commit_both(struct fixture *f, struct store *store,
                        const struct changes *const changes[PARTITIONS])
{
    enum store_result result;
    uint64_t sequence;

    do {
        struct commit_part parts[PARTITIONS];

        for (unsigned p = 0; p < PARTITIONS; p++)
            parts[p] =
                (struct commit_part){ snapshot_open(store, partition_of(f, p), STORE_MAY_BLOCK),
                                      changes[p] };
        result =
            store_commit(store, parts, PARTITIONS, clock_now() + 1, STORE_MAY_BLOCK, &sequence);
        for (unsigned p = 0; p < PARTITIONS; p++)
            snapshot_close(parts[p].snapshot);
        if (!result)
            result = store_await(store, sequence);
    } while (result == STORE_CONFLICT);
    assert_int_equal(result, STORE_OK);
}

static void put_one(struct fixture *f, struct changes *changes, unsigned p, unsigned family,
                    unsigned key, unsigned value)
{
    if (value > 0)
        changes_put(changes, (enum record_family)family, key_of(f, key),
                    arena_printf(f->arena, "%u", value), NULL, 0);
    else
        changes_delete(changes, (enum record_family)family, key_of(f, key));
    f->values[p][family][key] = value;
}

static void fill(struct fixture *f)
{
    const struct changes *both[PARTITIONS];

    f->newest++;
    for (unsigned p = 0; p < PARTITIONS; p++) {
        struct changes *changes = changes_new(f->arena);

        for (unsigned family = 0; family < FAMILIES; family++)
            for (unsigned key = 0; key < KEYS; key++)
                if (key % 3 > 0)
                    put_one(f, changes, p, family, key, f->newest);
        both[p] = changes;
    }
    commit_both(f, f->store, both);
}

static void change_some(struct fixture *f, struct store *store)
{
    const struct changes *both[PARTITIONS];

    f->newest++;
    for (unsigned p = 0; p < PARTITIONS; p++) {
        struct changes *changes = changes_new(f->arena);

        for (unsigned i = 0; i < 4; i++)
            put_one(f, changes, p, draw(f, FAMILIES), draw(f, KEYS),
                    draw(f, 3) > 0 ? f->newest : 0);
        both[p] = changes;
    }
    commit_both(f, store, both);
}

/* ---- objects ---- */

struct objects {
    char names[OBJECTS][SHARD_NAME_SIZE];
    unsigned count;
};

static void add_object(void *context, const char *object)
{
    struct objects *objects = context;
    struct guid space;

    assert_true(objects->count < OBJECTS);
    if (shard_name_space(object, &space))
        memcpy(objects->names[objects->count++], object, SHARD_NAME_SIZE);
}

static struct objects *find_objects(struct fixture *f)
{
    struct objects *objects = calloc(1, sizeof *objects);

    assert_true(port_each_object(f->port, add_object, objects));
    return objects;
}

static void cut(struct fixture *f, struct store *store)
{
    struct objects *objects = find_objects(f);

    for (unsigned i = 0; i < objects->count; i++)
        (void)split_shard(rados_of(store)->shards, objects->names[i], UINT32_MAX, ROWS);
    free(objects);
}

static unsigned count_rows(struct fixture *f, const char *object, enum row_kind a, enum row_kind b)
{
    struct port_op *op = arrival_op();
    struct port_step *list =
        port_list(op, (struct bytes){ NULL, 0 }, (struct bytes){ NULL, 0 }, PORT_ROWS_MAX);
    struct arrival *arrival = send_block(f->port, object, op);
    unsigned count = 0;

    for (uint32_t i = 0; op->result == PORT_OK && i < list->row_count; i++) {
        struct row_name name;

        assert_true(row_key_read(list->rows[i].key, f->arena, &name));
        count += name.kind == a || name.kind == b;
    }
    arrival_drop(arrival);
    return count;
}

/* Records of the object that has most of them; of all. */
static unsigned most_records(struct fixture *f, unsigned *ret_all)
{
    struct objects *objects = find_objects(f);
    unsigned most = 0;

    *ret_all = 0;
    for (unsigned i = 0; i < objects->count; i++) {
        unsigned count = count_rows(f, objects->names[i], ROW_LISTED, ROW_INNER);

        *ret_all += count;
        most = count > most ? count : most;
    }
    free(objects);
    return most;
}

static unsigned count_limbs(struct fixture *f)
{
    return count_rows(f, f->object, ROW_LIMB, ROW_LIMB);
}

/* ---- what is there ---- */

static struct snapshot *open_held(struct fixture *f, struct store *store, unsigned p)
{
    struct snapshot *snapshot = snapshot_open(store, partition_of(f, p), STORE_MAY_BLOCK);

    while (snapshot_hold(snapshot) == STORE_CONFLICT) {
        snapshot_close(snapshot);
        snapshot = snapshot_open(store, partition_of(f, p), STORE_MAY_BLOCK);
    }
    return snapshot;
}

static bool is_value(const struct fixture *f, struct bytes value, unsigned number)
{
    return bytes_equal(value, arena_printf(f->arena, "%u", number));
}

static void expect_family(struct fixture *f, struct snapshot *snapshot, unsigned p, unsigned family)
{
    const struct bytes none = { NULL, 0 };
    struct scan *scan = scan_open(snapshot, (enum record_family)family, none, none);
    struct record record;

    for (unsigned key = 0; key < KEYS; key++) {
        unsigned value = f->values[p][family][key];
        enum store_result result =
            snapshot_get(snapshot, (enum record_family)family, key_of(f, key), f->arena, &record);

        assert_int_equal(result, value > 0 ? STORE_OK : STORE_NOT_FOUND);
        if (value == 0)
            continue;
        assert_true(is_value(f, record.value, value));
        assert_int_equal(scan_next(scan, f->arena, &record), STORE_OK);
        assert_true(bytes_equal(record.key, key_of(f, key)) && is_value(f, record.value, value));
    }
    assert_int_equal(scan_next(scan, f->arena, &record), STORE_NOT_FOUND);
    scan_close(scan);
}

/* LISTED records of the space from a place in the first partition on. */
static void expect_listed(struct fixture *f, struct store *store, unsigned from)
{
    const struct bytes none = { NULL, 0 };
    struct space_iterator *iterator =
        space_iterator_open(store, f->space, none, none, STORE_MAY_BLOCK);
    struct space_record record;

    space_iterator_seek(iterator, partition_of(f, 0).key, key_of(f, from));
    for (unsigned p = 0; p < PARTITIONS; p++)
        for (unsigned key = p == 0 ? from : 0; key < KEYS; key++) {
            if (f->values[p][RECORD_LISTED][key] == 0)
                continue;
            assert_int_equal(space_iterator_next(iterator, &record), STORE_OK);
            assert_true(bytes_equal(record.partition_key, partition_of(f, p).key));
            assert_true(bytes_equal(record.record_key, key_of(f, key)));
            assert_true(is_value(f, record.value, f->values[p][RECORD_LISTED][key]));
        }
    assert_int_equal(space_iterator_next(iterator, &record), STORE_NOT_FOUND);
    space_iterator_close(iterator);
}

static void expect_all(struct fixture *f, struct store *store)
{
    for (unsigned p = 0; p < PARTITIONS; p++) {
        struct snapshot *snapshot = snapshot_open(store, partition_of(f, p), STORE_MAY_BLOCK);

        for (unsigned family = 0; family < FAMILIES; family++)
            expect_family(f, snapshot, p, family);
        snapshot_close(snapshot);
        snapshot = open_held(f, store, p);
        for (unsigned family = 0; family < FAMILIES; family++)
            expect_family(f, snapshot, p, family);
        snapshot_close(snapshot);
    }
    for (unsigned from = 0; from < KEYS; from += 7)
        expect_listed(f, store, from);
}

static void visit(void *context, const struct record_place *place, const struct record *record)
{
    struct fixture *f = context;

    (void)record;
    assert_true(guid_equal(&place->space, &f->space));
    f->visited++;
}

static void say(void *context, const char *sentence)
{
    struct fixture *f = context;

    f->said++;
    snprintf(f->last, sizeof f->last, "%s", sentence);
}

/* lagra check finds each record once, and nothing to say. */
static void expect_whole(struct fixture *f)
{
    unsigned expected = 0;

    for (unsigned i = 0; i < PARTITIONS * FAMILIES * KEYS; i++)
        expected += ((unsigned *)f->values)[i] > 0;
    f->said = f->visited = 0;
    assert_int_equal(store_inspect(f->store, visit, say, f), STORE_OK);
    if (f->said > 0)
        print_message("%s\n", f->last);
    assert_int_equal(f->said, 0);
    assert_int_equal(f->visited, expected);
}

/* ---- tests ---- */

/* Records lie in small objects, and are read and changed as before, by who cut them and by who knows nothing of it. */
static void cut_and_changed(void **state)
{
    struct fixture *f = *state;
    unsigned all;

    fill(f);
    cut(f, f->store);
    assert_true(count_limbs(f) >= 8);
    assert_true(most_records(f, &all) <= PARTITIONS * FAMILIES * ROWS);
    assert_int_equal(all, PARTITIONS * FAMILIES * KEYS * 2 / 3);
    expect_all(f, f->store);
    for (unsigned i = 0; i < 60; i++) {
        change_some(f, f->store);
        if (i % 6 == 0)
            cut(f, f->store);
        if (i % 10 == 0)
            expect_all(f, f->store);
    }
    store_close(f->store);
    f->store = open_store(live_client(f->live));
    expect_all(f, f->store);
    expect_whole(f);
}

/* A limb that has become large is cut as well: what comes into its range goes there. */
static void limb_that_grows(void **state)
{
    struct fixture *f = *state;
    unsigned before, all;

    fill(f);
    cut(f, f->store);
    before = count_limbs(f);
    for (unsigned key = 0; key < KEYS; key += 3) {
        const struct changes *both[PARTITIONS];

        for (unsigned p = 0; p < PARTITIONS; p++) {
            struct changes *changes = changes_new(f->arena);

            for (unsigned i = 0; i < 3; i++)
                changes_put(changes, RECORD_LISTED,
                            arena_printf(f->arena, "r%02u%c", key + 1, 'a' + i), B("1"), NULL, 0);
            both[p] = changes;
        }
        commit_both(f, f->store, both);
    }
    assert_true(most_records(f, &all) > ROWS);
    cut(f, f->store);
    assert_true(count_limbs(f) > before);
    f->said = 0;
    assert_int_equal(store_inspect(f->store, visit, say, f), STORE_OK);
    assert_int_equal(f->said, 0);
    assert_int_equal(f->visited, PARTITIONS * (FAMILIES * KEYS * 2 / 3 + KEYS / 3 * 3));
}

/* Who cuts dies at any of its ops: another finds all, and goes on. */
static void killed(void **state)
{
    unsigned with_limbs = 0;

    (void)state;
    for (unsigned after = 0; after < 60; after++) {
        struct fixture *f = fixture_new(100 + after);
        struct port *port = live_client(f->live);
        struct store *dying = open_store(port);

        fill(f);
        live_cut(f->live, port, 3 + after, after % 2 == 1);
        cut(f, dying);
        with_limbs += count_limbs(f) > 0;
        expect_all(f, f->store);
        change_some(f, f->store);
        cut(f, f->store);
        change_some(f, f->store);
        expect_all(f, f->store);
        assert_true(count_limbs(f) > 0);
        store_close(dying);
        fixture_free(f);
    }
    assert_true(with_limbs > 30);
}

/* A reader that has seen the home before a commit to a limb is not shown what that has made of the limb. */
static void of_one_state(void **state)
{
    struct fixture *f = *state;
    struct snapshot *snapshot;
    struct record record;
    unsigned conflicts = 0;

    fill(f);
    cut(f, f->store);
    for (unsigned i = 0; i < 40; i++) {
        unsigned p = draw(f, PARTITIONS), key = draw(f, KEYS);
        unsigned before = f->values[p][RECORD_INNER][key];
        enum store_result result;

        snapshot = snapshot_open(f->store, partition_of(f, p), STORE_MAY_BLOCK);
        (void)snapshot_get(snapshot, RECORD_LISTED, B("none"), f->arena, &record);
        change_some(f, f->store);
        result = snapshot_get(snapshot, RECORD_INNER, key_of(f, key), f->arena, &record);
        conflicts += result == STORE_CONFLICT;
        if (result == STORE_OK)
            assert_true(is_value(f, record.value, before));
        else
            assert_true(result == STORE_CONFLICT || before == 0);
        snapshot_close(snapshot);
    }
    assert_true(conflicts > 0);
}

/* One commit of one partition. */
static void commit_one(struct fixture *f, const struct partition *partition,
                       const struct changes *changes)
{
    struct snapshot *snapshot = snapshot_open(f->store, *partition, STORE_MAY_BLOCK);
    uint64_t sequence;

    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now() + 1, STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(snapshot);
    assert_int_equal(store_await(f->store, sequence), STORE_OK);
}

static void drop_all(struct fixture *f)
{
    const struct partition other = { guid_new(), B("other") };
    struct changes *changes = changes_new(f->arena);
    struct store_usage usage;

    changes_drop_space(changes, f->space);
    commit_one(f, &other, changes);
    store_collect_now(f->store, &usage);
}

/* Limbs go with their space. */
static void dropped(void **state)
{
    struct fixture *f = *state;
    unsigned all;

    fill(f);
    cut(f, f->store);
    assert_true(count_limbs(f) > 0);
    drop_all(f);
    (void)most_records(f, &all);
    assert_int_equal(all, 0);
    assert_int_equal(count_limbs(f), 0);
    memset(f->values, 0, sizeof f->values);
    expect_whole(f);
}

/* A row that lists somebody else's space for a limb does not take that along. */
static void dropped_alone(void **state)
{
    struct fixture *f = *state;
    const struct partition kept = { { { 7, 7 } }, B("p0") };
    const struct limb_row wrong = { .space = kept.space, .version = 5, .lo = B("zy") };
    struct changes *changes = changes_new(f->arena);
    struct port_op *op = arrival_op();
    struct snapshot *snapshot;
    struct record record;

    fill(f);
    changes_put(changes, RECORD_INNER, B("record"), B("value"), NULL, 0);
    commit_one(f, &kept, changes);
    port_set(op, row_key_limb(f->arena, RECORD_LISTED, B("p0"), B("zz")),
             limb_row_write(f->arena, &wrong));
    assert_int_equal(run_block(f->port, f->object, op), PORT_OK);
    drop_all(f);
    snapshot = snapshot_open(f->store, kept, STORE_MAY_BLOCK);
    assert_int_equal(snapshot_get(snapshot, RECORD_INNER, B("record"), f->arena, &record),
                     STORE_OK);
    snapshot_close(snapshot);
    changes = changes_new(f->arena);
    changes_delete(changes, RECORD_INNER, B("record"));
    commit_one(f, &kept, changes);
}

/* Limbs whose records have gone are listed no longer. */
static void emptied(void **state)
{
    struct fixture *f = *state;
    const struct changes *both[PARTITIONS];
    struct store_usage usage;

    fill(f);
    cut(f, f->store);
    assert_true(count_limbs(f) > 0);
    for (unsigned p = 0; p < PARTITIONS; p++) {
        struct changes *changes = changes_new(f->arena);

        for (unsigned family = 0; family < FAMILIES; family++)
            for (unsigned key = 1; key < KEYS; key++)
                put_one(f, changes, p, family, key, 0);
        both[p] = changes;
    }
    commit_both(f, f->store, both);
    for (unsigned tries = 0; tries < 50 && count_limbs(f) > 0; tries++)
        cut(f, f->store); /* not while the commit still settles one */
    assert_int_equal(count_limbs(f), 0);
    expect_all(f, f->store);
    store_collect_now(f->store, &usage);
    fill(f);
    expect_all(f, f->store);
    expect_whole(f);
}

/* ---- what is damaged ---- */

/* The first limb of LISTED records, by the row where it ends. */
static struct limb_row first_limb(struct fixture *f, struct row_name *ret_name,
                                  struct bytes *ret_key)
{
    struct port_op *op = arrival_op();
    struct port_step *list = port_list(op, (struct bytes){ NULL, 0 }, B("L"), PORT_ROWS_MAX);
    struct arrival *arrival = send_block(f->port, f->object, op);
    struct limb_row limb = { .version = 0 };

    for (uint32_t i = 0; i < list->row_count && limb.version == 0; i++) {
        assert_true(row_key_read(list->rows[i].key, f->arena, ret_name));
        if (ret_name->kind != ROW_LIMB)
            continue;
        *ret_key = arena_copy(f->arena, list->rows[i].key);
        assert_true(limb_row_read(arena_copy(f->arena, list->rows[i].value), &limb));
    }
    arrival_drop(arrival);
    assert_true(limb.version > 0);
    return limb;
}

static void expect_said(struct fixture *f, const char *what)
{
    f->said = 0;
    f->last[0] = '\0';
    (void)store_inspect(f->store, visit, say, f);
    assert_true(f->said > 0);
    assert_non_null(strstr(f->last, what));
}

static void checked(void **state)
{
    struct fixture *f = *state;
    struct row_name name;
    struct bytes key;
    struct limb_row limb, wrong;
    struct port_op *op;
    char object[SHARD_NAME_SIZE];

    fill(f);
    cut(f, f->store);
    expect_whole(f);
    limb = wrong = first_limb(f, &name, &key);
    shard_name(&limb.space, 0, 0, object);

    wrong.version++;
    op = arrival_op();
    port_set(op, key, limb_row_write(op->arena, &wrong));
    assert_int_equal(run_block(f->port, f->object, op), PORT_OK);
    expect_said(f, "a limb has another version than is listed");

    wrong = limb;
    wrong.lo = name.record_key;
    op = arrival_op();
    port_set(op, key, limb_row_write(op->arena, &wrong));
    assert_int_equal(run_block(f->port, f->object, op), PORT_OK);
    expect_said(f, "a limb has a record outside of its range");

    op = arrival_op();
    port_remove(op, key);
    assert_int_equal(run_block(f->port, f->object, op), PORT_OK);
    expect_said(f, "no partition lists it");

    op = arrival_op();
    port_set(op, key, limb_row_write(op->arena, &limb));
    assert_int_equal(run_block(f->port, f->object, op), PORT_OK);
    expect_whole(f);
    op = arrival_op();
    port_delete_object(op);
    (void)run_block(f->port, object, op); /* resent, it is not there any more */
    expect_said(f, "a limb");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cut_and_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limb_that_grows, set_up, tear_down),
        cmocka_unit_test(killed),
        cmocka_unit_test_setup_teardown(of_one_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dropped_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(emptied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(checked, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
