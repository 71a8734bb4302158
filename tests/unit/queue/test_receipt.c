/* Pop receipts and ids: what is made is read again, and nothing else is. decision: 121 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/message.h"

#include <cmocka.h>

static void test_round_trip(void **state)
{
    static const struct receipt receipts[] = {
        { 0, 0 }, { 1, 1 }, { UINT64_C(639400000000000000), 7 }, { UINT64_MAX, UINT32_MAX }
    };
    struct arena *arena = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof receipts / sizeof receipts[0]; i++) {
        struct receipt back = { 5, 5 };

        assert_true(receipt_parse(arena, receipt_text(arena, receipts[i]), &back));
        assert_int_equal(back.place, receipts[i].place);
        assert_int_equal(back.changes, receipts[i].changes);
    }
    arena_free(arena);
}

/* Two receipts of which any part differs are different texts. */
static void test_all_parts_count(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct bytes base = receipt_text(arena, (struct receipt){ 1000, 3 });

    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        struct receipt other = { 1000 ^ UINT64_C(1) << bit, 3 };

        assert_false(bytes_equal(base, receipt_text(arena, other)));
    }
    for (unsigned bit = 0; bit < 32; bit++) {
        struct receipt other = { 1000, 3 ^ UINT32_C(1) << bit };

        assert_false(bytes_equal(base, receipt_text(arena, other)));
    }
    arena_free(arena);
}

static void test_malformed(void **state)
{
    static const char *const texts[] = {
        "",
        "x",
        "AQ==",
        "AgAAAAMAAAAAAAAAqmD1QwUG1QE=", /* of the real service */
        "AgjfSFLowy5xAAAAAA==",         /* another version */
        "AQjfSFLowy5xAAAAAA=",          /* cut */
        "AQjfSFLowy5xAAAAAA==A",
        "AQjfSFLowy5xAAAA AA=",
        "AQjfSFLowy5xAAAAAAAA", /* two bytes more */
    };
    struct arena *arena = arena_new(1u << 20);
    struct receipt receipt;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(receipt_parse(arena, bytes_from_string(texts[i]), &receipt));
    assert_true(receipt_parse(arena, bytes_from_string("AQjfSFLowy5xAAAAAA=="), &receipt));
    arena_free(arena);
}

/* An id keeps its instant, is a GUID of version 8, and ids are ordered as their instants.
 * rfc: 9562 5.8 */
static void test_ids(void **state)
{
    static const instant at[] = { 1, UINT64_C(638000000000000000), UINT64_C(638000000000000001),
                                  UINT64_C(638000000000004096), (UINT64_C(1) << 60) - 1 };
    struct guid last = { { 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        struct guid id = message_id(at[i], at[i] + 1, guid_new());

        assert_int_equal(message_inserted(&id), at[i]);
        assert_int_equal(id.b[6] >> 4, 8);
        assert_int_equal(id.b[8] >> 6, 2);
        assert_true(memcmp(last.b, id.b, sizeof id.b) < 0);
        last = id;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_all_parts_count),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
