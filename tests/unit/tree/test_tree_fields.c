/* Every field of the records of a tree survives, next to others with any value. record.c */
#include "tree/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../record_fields.h"

#define CASE TREE_CASE_EXACT

static const struct field entry_fields[] = {
    VALUE(tree_entry, id),        VALUE(tree_entry, written),    VALUE(tree_entry, kind),
    TEXT(tree_entry, name.given), SKIPPED(tree_entry, name.key), /* depends on the name */
};

static void entry_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    struct tree_entry entry, *read = to;
    struct written written;

    memcpy(&entry, from, sizeof entry);
    assert_int_equal(tree_name_parse(arena, CASE, entry.name.given, &entry.name), TREE_PATH_OK);
    tree_entry_put(changes, &entry);
    written = written_begin(changes);
    assert_int_equal(tree_entry_read(written.snapshot, arena, CASE, &entry.name, read), STORE_OK);
    written_end(&written);
    assert_true(bytes_equal(read->name.key, entry.name.key));
}

static void entries(void **state)
{
    static const struct record_form form = RECORD_FORM(tree_entry, entry_fields, entry_trip);
    static const struct tree_entry samples[] = {
        { .id = 1, .written = 2, .kind = TREE_FILE, .name = { .given = BYTES("three") } },
        { .id = 11, .written = 12, .kind = TREE_DIRECTORY, .name = { .given = BYTES("thirteen") } },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

static const struct field node_fields[] = {
    VALUE(tree_node, kind),
    VALUE(tree_node, parent),
    TEXT(tree_node, name.given),
    SKIPPED(tree_node, name.key),
};

static void node_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    struct written written;
    struct tree_node *read = to;

    tree_node_put(changes, from);
    written = written_begin(changes);
    assert_int_equal(tree_node_read(written.snapshot, arena, CASE, read), STORE_OK);
    read->name.given = arena_copy(arena, read->name.given);
    written_end(&written);
}

static void nodes(void **state)
{
    static const struct record_form form = RECORD_FORM(tree_node, node_fields, node_trip);
    static const struct tree_node samples[] = {
        { .kind = TREE_FILE, .parent = 1, .name = { .given = BYTES("two") } },
        { .kind = TREE_DIRECTORY, .parent = 11, .name = { .given = BYTES("twelve") } },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

static const struct field state_fields[] = {
    VALUE(tree_state, moves),  VALUE(tree_state, generation), VALUE(tree_state, last_retained),
    VALUE(tree_state, closed), VALUE(tree_state, reopened),
};

static void state_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    struct written written;

    tree_state_put(changes, from);
    written = written_begin(changes);
    assert_int_equal(tree_state_read(written.snapshot, arena, to), STORE_OK);
    written_end(&written);
}

static void states(void **state)
{
    static const struct record_form form = RECORD_FORM(tree_state, state_fields, state_trip);
    static const struct tree_state samples[] = {
        { .moves = 1, .generation = 20, .last_retained = 3, .closed = false, .reopened = 4 },
        { .moves = 11, .generation = 21, .last_retained = 13, .closed = true, .reopened = 14 },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

static void retained_generations(void **state)
{
    uint64_t generations[] = { 3, 8, 15, 0 };
    const struct retained_generations retained = { .generations = generations, .count = 3 };
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct written written;
    struct retained_generations read;

    (void)state;
    retained_generations_put(changes, &retained);
    written = written_begin(changes);
    assert_int_equal(retained_generations_read(written.snapshot, arena, &read), STORE_OK);
    assert_int_equal(read.count, 3);
    assert_memory_equal(read.generations, generations, 3 * sizeof generations[0]);
    written_end(&written);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries),
        cmocka_unit_test(nodes),
        cmocka_unit_test(states),
        cmocka_unit_test(retained_generations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
