/* Random operations on a store and on a naive model of it: tables of what each key holds, copied
 * whole for each snapshot. They must agree at every look. The seed is printed; LAGRA_SEED=n runs
 * that seed again, LAGRA_STEPS=n more steps. store.h */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const struct bytes nothing = { NULL, 0 };

#define SPACES        2
#define PARTITIONS    3
#define FAMILIES      2
#define KEYS          6
#define HELD_MAX      5
#define STREAMS_MAX   20000
#define STEPS_DEFAULT 1500

/* Both in byte order. */
static const struct bytes partition_keys[PARTITIONS] = { BYTES("p"), BYTES("p\0q"),
                                                         BYTES("p\xff") };
static const struct bytes record_keys[KEYS] = { BYTES(""),    BYTES("\0"),      BYTES("k"),
                                                BYTES("k\0"), BYTES("k\0\xff"), BYTES("\xff\xff") };

struct cell {
    uint32_t version; /* of the value; 0: no record */
    uint32_t stream;  /* whose pieces it refers to; 0: none */
};

struct model_partition {
    struct cell cells[FAMILIES][KEYS];
    uint64_t commits; /* that there have been */
};

/* A snapshot kept open, and what it must show. */
struct held {
    struct read_view *snapshot; /* NULL: free */
    size_t space, partition;
    bool dropped; /* since it was opened */
    struct model_partition seen;
};

struct model {
    struct fixture *f;
    struct arena *arena; /* of one step */
    struct random random;
    struct guid spaces[SPACES];
    struct model_partition partitions[SPACES][PARTITIONS];
    struct held held[HELD_MAX];
    uint32_t stream_lengths[STREAMS_MAX];
    uint32_t last_stream;
    uint32_t last_version;
    uint32_t unhindered; /* commits with none of their partition before them */
    uint32_t needless_conflicts;
};

static size_t chance(struct model *m, size_t below)
{
    return (size_t)random_below(&m->random, below);
}

static struct bytes value_of(struct arena *arena, uint32_t version)
{
    return arena_printf(arena, "v%u%.*s", version, (int)(version * 37 % 60),
                        "............................................................");
}

static void check_stream(struct model *m, const struct record *record, uint32_t stream)
{
    uint32_t at = 0;

    for (size_t i = 0; i < record->piece_count; i++) {
        const struct piece *piece = &record->pieces[i];
        char *data = xmalloc(piece->length);

        assert_int_equal(piece_read(m->f->store, piece, 0, piece->length, data, NULL), STORE_OK);
        assert_true(pattern_matches(data, piece->length, stream, at));
        at += piece->length;
        free(data);
    }
    assert_int_equal(at, stream > 0 ? m->stream_lengths[stream] : 0);
}

static void check_record(struct model *m, const struct record *record, struct cell cell)
{
    assert_true(bytes_equal(record->value, value_of(m->arena, cell.version)));
    if (chance(m, 4) == 0)
        check_stream(m, record, cell.stream);
    else
        assert_true((record->piece_count > 0) == (cell.stream > 0));
}

/* All that a snapshot shows, by scans and by gets. */
static void check_snapshot(struct model *m, struct read_view *snapshot,
                           const struct model_partition *seen)
{
    for (int family = 0; family < FAMILIES; family++) {
        struct scan *scan = scan_open(snapshot, (enum record_family)family, nothing, nothing);
        struct record record;

        for (size_t k = 0; k < KEYS; k++) {
            struct cell cell = seen->cells[family][k];
            enum store_result result = read_view_get(snapshot, (enum record_family)family,
                                                     record_keys[k], m->arena, &record);

            assert_int_equal(result, cell.version > 0 ? STORE_OK : STORE_NOT_FOUND);
            if (result)
                continue;
            check_record(m, &record, cell);
            assert_int_equal(scan_next(scan, m->arena, &record), STORE_OK);
            assert_true(bytes_equal(record.key, record_keys[k]));
            check_record(m, &record, cell);
        }
        assert_int_equal(scan_next(scan, NULL, &record), STORE_NOT_FOUND);
        scan_close(scan);
    }
}

static void check_held(struct model *m)
{
    struct held *held = &m->held[chance(m, HELD_MAX)];

    if (held->snapshot)
        check_snapshot(m, held->snapshot, &held->seen);
}

/* A slot with an open snapshot: one from before, or a new one of any partition. */
static struct held *hold(struct model *m)
{
    struct held *held = &m->held[chance(m, HELD_MAX)];

    if (held->snapshot)
        return held;
    held->space = chance(m, SPACES);
    held->partition = chance(m, PARTITIONS);
    held->dropped = false;
    held->seen = m->partitions[held->space][held->partition];
    held->snapshot = read_view_open(
        m->f->store, (struct partition){ m->spaces[held->space], partition_keys[held->partition] },
        STORE_MAY_BLOCK);
    return held;
}

static void let_go(struct held *held)
{
    if (held->snapshot)
        read_view_close(held->snapshot);
    held->snapshot = NULL;
}

/* Takes the references of what a key holds, as seen. */
static void release_old(struct model *m, struct held *held, int family, size_t key,
                        struct changes *changes)
{
    struct record record;

    if (held->seen.cells[family][key].stream == 0)
        return;
    assert_int_equal(read_view_get(held->snapshot, (enum record_family)family, record_keys[key],
                                   m->arena, &record),
                     STORE_OK);
    changes_release(changes, record.pieces, record.piece_count);
}

/* Puts the value of a new version, with no pieces, with those of another key, or with new ones. */
static struct stage *put_cell(struct model *m, struct held *held, int family, size_t key,
                              struct changes *changes, struct cell *ret_cell)
{
    struct cell cell = { .version = ++m->last_version };
    const struct piece *pieces = NULL;
    struct stage *stage = NULL;
    struct record record;
    size_t count = 0;
    size_t way = chance(m, 4);
    size_t from = chance(m, KEYS);

    if (way == 0 && m->last_stream + 1 < STREAMS_MAX) {
        cell.stream = ++m->last_stream;
        m->stream_lengths[cell.stream] = 1 + (uint32_t)chance(m, chance(m, 20) ? 150000 : 9000000);
        assert_int_equal(
            stage_pattern(m->f->store, m->stream_lengths[cell.stream], cell.stream, 90000, &stage),
            STORE_OK);
        pieces = stage_pieces(stage, &count);
    } else if (way == 1 && held->seen.cells[family][from].stream > 0) {
        cell.stream = held->seen.cells[family][from].stream;
        assert_int_equal(read_view_get(held->snapshot, (enum record_family)family,
                                       record_keys[from], m->arena, &record),
                         STORE_OK);
        pieces = record.pieces;
        count = record.piece_count;
    }
    changes_put(changes, (enum record_family)family, record_keys[key],
                value_of(m->arena, cell.version), pieces, count);
    *ret_cell = cell;
    return stage;
}

/* What a commit must give: OK on the state it saw, CONFLICT on another; either when commits came
 * between but left the same. Now and then the store takes another partition's change for one of
 * this (store.h, STORE_CONFLICT). */
static void check_result(struct model *m, const struct held *held, enum store_result result)
{
    const struct model_partition *now = &m->partitions[held->space][held->partition];
    bool same = memcmp(held->seen.cells, now->cells, sizeof now->cells) == 0;

    if (held->dropped) {
        assert_int_equal(result, STORE_NOT_FOUND);
        return;
    }
    if (held->seen.commits == now->commits) {
        m->unhindered++;
        m->needless_conflicts += result == STORE_CONFLICT;
    }
    assert_true(result == STORE_CONFLICT || (result == STORE_OK && same));
}

/* A commit of some changes on a snapshot that may be stale. */
static void step_commit(struct model *m)
{
    struct held *held = hold(m);
    struct model_partition after = held->seen;
    struct changes *changes = changes_new(m->arena);
    struct stage *stages[KEYS] = { NULL };
    int family = (int)chance(m, FAMILIES);
    size_t first = chance(m, KEYS);
    size_t last = first + chance(m, KEYS - first);
    enum store_result result;
    uint64_t sequence;

    for (size_t k = first; k <= last; k++) {
        release_old(m, held, family, k, changes);
        after.cells[family][k] = (struct cell){ 0, 0 };
        if (chance(m, 3) == 0)
            changes_delete(changes, (enum record_family)family, record_keys[k]);
        else
            stages[k] = put_cell(m, held, family, k, changes, &after.cells[family][k]);
    }
    result = store_commit(m->f->store, &(struct commit_part){ held->snapshot, changes }, 1,
                          clock_now(), STORE_MAY_BLOCK, &sequence);
    for (size_t k = 0; k < KEYS; k++)
        if (stages[k])
            stage_close(stages[k]);
    check_result(m, held, result);
    if (result == STORE_OK) {
        uint64_t commits = m->partitions[held->space][held->partition].commits;

        m->partitions[held->space][held->partition] = after;
        m->partitions[held->space][held->partition].commits = commits + 1;
        if (chance(m, 20) == 0)
            wait_durable(m->f->store, sequence);
    }
    if (result == STORE_OK || chance(m, 2) == 0)
        let_go(held); /* a snapshot is spent by its commit */
}

static void step_iterate(struct model *m)
{
    size_t space = chance(m, SPACES);
    size_t from_p = chance(m, PARTITIONS);
    size_t from_k = chance(m, KEYS);
    struct space_iterator *iterator =
        space_iterator_open(m->f->store, m->spaces[space], partition_keys[from_p],
                            record_keys[from_k], STORE_MAY_BLOCK);
    struct space_record found;

    for (size_t i = from_p * KEYS + from_k; i < (size_t)PARTITIONS * KEYS; i++) {
        size_t p = i / KEYS, k = i % KEYS;
        struct cell cell = m->partitions[space][p].cells[RECORD_LISTED][k];

        if (cell.version == 0)
            continue;
        assert_int_equal(space_iterator_next(iterator, &found), STORE_OK);
        assert_true(bytes_equal(found.partition_key, partition_keys[p]));
        assert_true(bytes_equal(found.record_key, record_keys[k]));
        assert_true(bytes_equal(found.value, value_of(m->arena, cell.version)));
    }
    assert_int_equal(space_iterator_next(iterator, &found), STORE_NOT_FOUND);
    space_iterator_close(iterator);
}

/* A space is dropped; another takes its place in the model. */
static void step_drop(struct model *m)
{
    size_t space = chance(m, SPACES);
    struct changes *changes = changes_new(m->arena);
    static const struct guid registry = { { 9 } };

    changes_drop_space(changes, m->spaces[space]);
    assert_int_equal(commit_new(m->f->store, partition_of(registry, ""), changes, NULL), STORE_OK);
    for (size_t i = 0; i < HELD_MAX; i++)
        if (m->held[i].snapshot && m->held[i].space == space)
            m->held[i].dropped = true;
    m->spaces[space] = guid_new();
    memset(m->partitions[space], 0, sizeof m->partitions[space]);
}

/* The bytes of all streams that any record refers to, each counted once. */
static uint64_t referenced_bytes(const struct model *m)
{
    uint64_t bytes = 0;

    for (uint32_t stream = 1; stream <= m->last_stream; stream++) {
        bool used = false;

        for (size_t i = 0; i < (size_t)SPACES * PARTITIONS; i++)
            for (size_t c = 0; c < (size_t)FAMILIES * KEYS; c++)
                used = used || m->partitions[i / PARTITIONS][i % PARTITIONS]
                                       .cells[c / KEYS][c % KEYS]
                                       .stream == stream;
        bytes += used ? m->stream_lengths[stream] : 0;
    }
    return bytes;
}

static void step_collect(struct model *m)
{
    assert_int_equal(usage_now(m->f->store).piece_bytes, referenced_bytes(m));
}

static void step_reopen(struct model *m)
{
    if (!m->f->engine->on_disk)
        return;
    for (size_t i = 0; i < HELD_MAX; i++)
        let_go(&m->held[i]);
    fixture_reopen(m->f);
    step_collect(m);
}

static void step(struct model *m)
{
    size_t way = chance(m, 1000);

    m->arena = arena_new(256u << 20);
    if (way < 700)
        step_commit(m);
    else if (way < 850)
        check_held(m);
    else if (way < 950)
        step_iterate(m);
    else if (way < 980)
        step_collect(m);
    else if (way < 995)
        step_drop(m);
    else
        step_reopen(m);
    arena_free(m->arena);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Rule: the store does what store.h says, in any order of calls. */
static void store_agrees_with_the_model(void **state)
{
    struct model *m = xcalloc(1, sizeof *m);
    uint64_t seed = setting("LAGRA_SEED", (uint64_t)time(NULL));
    uint64_t steps = setting("LAGRA_STEPS", STEPS_DEFAULT);

    print_message("LAGRA_SEED=%llu\n", (unsigned long long)seed);
    m->f = *state;
    m->random.state = seed;
    for (size_t i = 0; i < SPACES; i++)
        m->spaces[i] = guid_new();
    for (uint64_t i = 0; i < steps; i++)
        step(m);
    for (size_t i = 0; i < HELD_MAX; i++)
        let_go(&m->held[i]);
    step_collect(m);
    assert_int_equal(usage_now(m->f->store).pending_bytes, 0);
    assert_true(m->needless_conflicts <= m->unhindered / 20);
    free(m);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(store_agrees_with_the_model, EVERY_STORE),
    };

    return conformance_run("model", tests, sizeof tests / sizeof tests[0]);
}
