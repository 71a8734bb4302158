/* The work of a page of entities is bounded: it ends after 5 seconds, however little was found, and
 * what would hold a worker for long goes to the pool.
 * rest: Query-Timeout-and-Pagination; decision: 192, 254 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/store.h"
#include "table/entity_operations.h"
#include "table/filter.h"

#define ENTITIES    200u
#define VALUE_BYTES (32u << 10) /* each costs 33, and the clock is looked at once in 256 */

static const struct guid space = { { 7 } };

static void add_entities(struct store *store, struct arena *arena)
{
    static char value[VALUE_BYTES];
    struct property property = { .name = BYTES("P"),
                                 .value = { .type = EDM_BINARY,
                                            .as.bytes = bytes_of(value, sizeof value) } };
    struct entity entity = { .properties = &property, .count = 1 };
    struct partition at = { .space = space, .key = BYTES("p") };
    struct read_view *snapshot = read_view_open(store, at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    uint64_t sequence;

    for (unsigned i = 0; i < ENTITIES; i++)
        changes_put(changes, RECORD_LISTED, arena_printf(arena, "%03u", i),
                    entity_encode(arena, &entity), NULL, 0);
    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
}

/* Takes a tenth of a second for each entity. */
struct slow_sink {
    struct entity_sink base;
    unsigned count;
};

static void begin(struct entity_sink *sink, struct bytes table)
{
    (void)table;
    ((struct slow_sink *)(void *)sink)->count = 0;
}

static void add_slowly(struct entity_sink *sink, const struct entity *entity)
{
    (void)entity;
    ((struct slow_sink *)(void *)sink)->count++;
    clock_advance(TICKS_PER_SECOND / 10);
}

static void a_page_does_not_take_long(void **state)
{
    struct arena *arena = arena_new(1u << 26);
    struct table_state table = { .table = { .space = space, .name = BYTES("abc") } };
    struct input input = { .identity = { .kind = IDENTITY_ACCOUNT_KEY } };
    struct decision d = { .arena = arena,
                          .store = store_open_memory(),
                          .access = STORE_MAY_BLOCK,
                          .input = &input,
                          .state = &table.base };
    struct slow_sink sink = { .base = { .begin = begin, .add = add_slowly } };
    struct query_entities_parameters asked = { .top = 1000, .sink = &sink.base };
    struct query_entities_result result = { .next = { .partition = { NULL, 0 } } };
    unsigned count = 0, pages = 0;

    (void)state;
    add_entities(d.store, arena);
    do {
        assert_int_equal(query_entities_decide(&d, &asked, &result), OK);
        assert_in_range(sink.count, 1, 60);
        count += sink.count;
        pages++;
        asked.from = result.next;
    } while (result.next.partition.ptr);
    assert_int_equal(count, ENTITIES);
    assert_in_range(pages, 4, 5);
    store_close(d.store);
    arena_free(arena);
}

/* ---- what a worker does ---- */

#define WIDE_ENTITIES 700u

static void add_wide_entities(struct store *store, struct arena *arena)
{
    static struct property properties[ENTITY_PROPERTIES_MAX];
    struct entity entity = { .properties = properties, .count = ENTITY_PROPERTIES_MAX };
    struct partition at = { .space = space, .key = BYTES("p") };
    struct read_view *snapshot = read_view_open(store, at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct bytes record;
    uint64_t sequence;

    for (unsigned i = 0; i < ENTITY_PROPERTIES_MAX; i++)
        properties[i] = (struct property){ .name = arena_printf(arena, "P%03u", i),
                                           .value = { .type = EDM_INT32, .as.integer = 7 } };
    record = entity_encode(arena, &entity);
    for (unsigned i = 0; i < WIDE_ENTITIES; i++)
        changes_put(changes, RECORD_LISTED, arena_printf(arena, "%03u", i), record, NULL, 0);
    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
}

/* "P000 eq .. or P001 eq .." with 128 comparisons, of which none holds, or the last. */
static struct filter *long_filter(struct arena *arena, bool holds)
{
    struct filter *filter = arena_alloc(arena, sizeof *filter);
    const char *message;
    struct text text;

    text_init(&text, arena, 4096);
    for (unsigned i = 0; i < FILTER_COMPARISONS_MAX; i++)
        text_printf(&text, "%sP%03u eq %d", i > 0 ? " or " : "", i,
                    holds && i + 1 == FILTER_COMPARISONS_MAX ? 7 : 8);
    assert_int_equal(filter_parse(arena, text_bytes(&text), FILTER_ENTITIES, filter, &message), OK);
    return filter;
}

static void add_dearly(struct entity_sink *sink, const struct entity *entity)
{
    sink->steps = 8 * entity->count;
    ((struct slow_sink *)(void *)sink)->count++;
}

/* Rule: 700 entities of 252 properties with 128 comparisons are nothing for a worker, whether they are
 * found or not, nor are those that are only written. decision: 254 */
static void a_worker_does_not_do_it_all(void **state)
{
    struct arena *arena = arena_new(1u << 26);
    struct table_state table = { .table = { .space = space, .name = BYTES("abc") } };
    struct input input = { .identity = { .kind = IDENTITY_ACCOUNT_KEY } };
    struct decision d = {
        .arena = arena, .store = store_open_memory(), .input = &input, .state = &table.base
    };
    struct slow_sink sink = { .base = { .begin = begin, .add = add_dearly } };
    const struct filter *filters[] = { long_filter(arena, false), long_filter(arena, true), NULL };

    (void)state;
    add_wide_entities(d.store, arena);
    for (size_t i = 0; i < 3; i++) {
        struct query_entities_parameters asked = { .top = 1000, .sink = &sink.base };
        struct query_entities_result result = { .next = { .partition = { NULL, 0 } } };

        asked.filter = filters[i];
        d.access = STORE_NO_WAIT;
        assert_int_equal(query_entities_decide(&d, &asked, &result), DECIDE_BLOCKING);
        assert_in_range(sink.count, i == 0 ? 0 : 20, i == 0 ? 0 : 300);
        d.access = STORE_MAY_BLOCK;
        assert_int_equal(query_entities_decide(&d, &asked, &result), OK);
        assert_int_equal(sink.count, i == 0 ? 0 : WIDE_ENTITIES);
        assert_null(result.next.partition.ptr);
    }
    store_close(d.store);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_does_not_take_long),
        cmocka_unit_test(a_worker_does_not_do_it_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
