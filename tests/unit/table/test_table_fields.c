/* Every field of the record of a table survives, next to others with any value. subject.c */
#include "table/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../record_fields.h"

static const struct field fields[] = {
    VALUE(table, space),
    TEXT(table, name),
    VALUE(table, created),
    TEXT(table, policies),
};

static void trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);

    table_write(changes, arena, from);
    assert_true(
        table_decode(written_record(arena, changes, RECORD_LISTED, bytes_from_string("t")), to));
}

static void tables(void **state)
{
    static const struct record_form form = RECORD_FORM(table, fields, trip);
    static const struct table samples[] = {
        { .space = { { 1 } }, .name = BYTES("2"), .created = 3, .policies = BYTES("4") },
        { .space = { { 11 } }, .name = BYTES("12"), .created = 13, .policies = BYTES("14") },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tables) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
