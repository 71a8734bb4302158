/* Random operations on one blob against a model of a few lines: what is read is what the model
 * says, and when all is deleted nothing is left behind. Deferred tasks run now and then.
 * design, promises 3 and 4; content.h */
#include <stdio.h>
#include <stdlib.h>

#include "blob/snapshot_scan.h"
#include "fixture.h"

#define STEPS     3000
#define SNAPSHOTS 6
#define IDS       3
#define PUT       "x-ms-blob-type: BlockBlob"

/* A content of the model: ptr NULL when there is none. */
struct model {
    struct bytes base;
    struct bytes committed[IDS]; /* the blocks that base is made of; ptr NULL: not of it */
    struct bytes staged[IDS];
    struct {
        const char *time;
        struct bytes content;
    } snapshots[SNAPSHOTS];
    const char *deleted; /* the time of one that was */
    uint64_t random;
    unsigned made;
    struct arena *arena;
};

static unsigned below(struct model *m, unsigned limit)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m->random >> 33) % limit;
}

/* So few go in one commit that most deletes of all leave a mark. */
__typeof__(snapshots_collect) __real_snapshots_collect, __wrap_snapshots_collect;

enum store_result __wrap_snapshots_collect(struct decision *d, const struct snapshot_mark *mark,
                                           size_t max, struct some_snapshots *ret_some)
{
    assert_true(max > 2);
    return __real_snapshots_collect(d, mark, 2, ret_some);
}

/* Inline in the record of a block, inline in a segment, or a piece. */
static struct bytes new_content(struct model *m)
{
    static const size_t sizes[] = { 1, 200, 257, 5000, 16 << 10, (16 << 10) + 1, 30000 };
    size_t size = sizes[below(m, sizeof sizes / sizeof sizes[0])];
    char *to = arena_bytes(m->arena, size);

    memset(to, 'a' + (int)(m->made % 26), size);
    snprintf(to, size, "%u", m->made++);
    return bytes_of(to, size);
}

static struct bytes join(struct model *m, struct bytes a, struct bytes b)
{
    char *to = arena_bytes(m->arena, a.len + b.len);

    memcpy(to, a.ptr, a.len);
    if (b.len > 0)
        memcpy(to + a.len, b.ptr, b.len);
    return bytes_of(to, a.len + b.len);
}

static void forget(struct bytes blocks[IDS])
{
    memset(blocks, 0, IDS * sizeof blocks[0]);
}

/* ---- operations ---- */

static void put(struct fixture *f, struct model *m)
{
    m->base = new_content(m);
    forget(m->committed);
    forget(m->staged);
    assert_ok(ask_bytes(f, "PUT /box/b", PUT, m->base), 201);
}

static void stage(struct fixture *f, struct model *m)
{
    unsigned id = below(m, IDS);

    m->staged[id] = new_content(m);
    assert_ok(
        ask_bytes(f, textf(f, "PUT /box/b?comp=block&blockid=AA%%2B%u", id), NULL, m->staged[id]),
        201);
}

static bool is_known(const struct model *m, unsigned id)
{
    return m->staged[id].ptr || m->committed[id].ptr;
}

/* Two blocks, each the newest of its id. */
static void commit(struct fixture *f, struct model *m)
{
    unsigned first = below(m, IDS), second = below(m, IDS);
    struct bytes of_first = m->staged[first].ptr ? m->staged[first] : m->committed[first];
    struct bytes of_second = m->staged[second].ptr ? m->staged[second] : m->committed[second];
    const char *list = textf(
        f, "<BlockList><Latest>AA+%u</Latest><Latest>AA+%u</Latest></BlockList>", first, second);
    struct reply got = ask(f, "PUT /box/b?comp=blocklist", NULL, list);

    if (!is_known(m, first) || !is_known(m, second)) {
        assert_answer(got, 400, "InvalidBlockList");
        return;
    }
    assert_ok(got, 201);
    m->base = join(m, of_first, of_second);
    forget(m->committed);
    forget(m->staged);
    m->committed[first] = of_first;
    m->committed[second] = of_second;
}

static void change(struct fixture *f, struct model *m)
{
    struct reply got = ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL);

    assert_int_equal(got.status, m->base.ptr ? 200 : 404);
}

static void snapshot(struct fixture *f, struct model *m)
{
    unsigned n = below(m, SNAPSHOTS);
    struct reply got;

    if (m->snapshots[n].time)
        return;
    got = ask(f, "PUT /box/b?comp=snapshot", below(m, 2) ? "x-ms-meta-s: 1" : NULL, NULL);
    assert_int_equal(got.status, m->base.ptr ? 201 : 404);
    if (!m->base.ptr)
        return;
    m->snapshots[n].time = header_of(f, &got, "x-ms-snapshot");
    m->snapshots[n].content = m->base;
}

static void delete_snapshot(struct fixture *f, struct model *m)
{
    unsigned n = below(m, SNAPSHOTS);

    if (!m->snapshots[n].time)
        return;
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", m->snapshots[n].time), 202);
    m->deleted = m->snapshots[n].time;
    m->snapshots[n].time = NULL;
}

static bool has_staged(const struct model *m)
{
    for (unsigned id = 0; id < IDS; id++) {
        if (m->staged[id].ptr)
            return true;
    }
    return false;
}

static void delete_all(struct fixture *f, struct model *m)
{
    bool only = below(m, 2);
    struct reply got =
        ask(f, "DELETE /box/b",
            only ? "x-ms-delete-snapshots: only" : "x-ms-delete-snapshots: include", NULL);

    assert_int_equal(got.status, m->base.ptr || has_staged(m) ? 202 : 404);
    if (got.status != 202)
        return;
    for (unsigned n = 0; n < SNAPSHOTS; n++) {
        if (m->snapshots[n].time)
            m->deleted = m->snapshots[n].time;
        m->snapshots[n].time = NULL;
    }
    if (only)
        return;
    m->base = (struct bytes){ NULL, 0 };
    forget(m->committed);
    forget(m->staged);
    if (below(m, 2))
        assert_nothing_is_left(f);
}

/* ---- what is read ---- */

static void assert_read(const struct reply *got, struct bytes want)
{
    assert_int_equal(got->status, want.ptr ? 200 : 404);
    if (!want.ptr)
        return;
    assert_int_equal(got->body.len, want.len);
    assert_memory_equal(got->body.ptr, want.ptr, want.len);
}

static void assert_model(struct fixture *f, struct model *m)
{
    unsigned n = below(m, SNAPSHOTS);
    struct reply got = ask(f, "GET /box/b", NULL, NULL);

    assert_read(&got, m->base);
    if (m->deleted)
        assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", m->deleted), 404,
                      "BlobNotFound");
    if (!m->snapshots[n].time)
        return;
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", m->snapshots[n].time);
    assert_read(&got, m->snapshots[n].content);
}

typedef void step_fn(struct fixture *f, struct model *m);

static void random_operations(void **state)
{
    static step_fn *const steps[] = { put,      stage,           stage,          stage,
                                      commit,   commit,          change,         snapshot,
                                      snapshot, delete_snapshot, delete_snapshot };
    struct fixture *f = *state;
    const char *seed = getenv("LAGRA_SEED"); /* to see a failure again */
    struct model m = { .random = seed ? strtoull(seed, NULL, 10) : (uint64_t)clock_now(),
                       .arena = arena_new((size_t)1 << 30) };

    fixture_hold_tasks(f);
    print_message("seed %llu\n", (unsigned long long)m.random);
    for (unsigned i = 0; i < STEPS; i++) {
        if (below(&m, 40) == 0)
            delete_all(f, &m);
        else
            steps[below(&m, sizeof steps / sizeof steps[0])](f, &m);
        assert_model(f, &m);
        if (below(&m, 20) == 0)
            run_due(store_of(f));
    }
    while (m.base.ptr || has_staged(&m))
        delete_all(f, &m);
    assert_nothing_is_left(f);
    arena_free(m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_operations, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
