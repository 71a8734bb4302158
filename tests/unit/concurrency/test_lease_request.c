/* The headers of a lease request: what each action needs and what they may hold.
 * rest: Lease-Blob "Request Headers"; semantics 3.1 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "concurrency/lease.h"

#define ID_A    "ca761232-ed42-11ce-bacd-00aa0057b223"
#define ID_B    "{CA761232-ED42-11CE-BACD-00AA0057B224}"
#define PERIOD  "x-ms-lease-break-period"
#define SECONDS "x-ms-lease-duration"

struct row {
    const char *action, *id, *proposed, *duration, *period;
    enum error expected;
    const char *at_fault;
};

static enum error parse(struct arena *arena, const struct row *row,
                        struct lease_request *ret_request, const char **ret_header)
{
    const struct lease_headers headers = {
        .action = bytes_from_string(row->action),
        .id = bytes_from_string(row->id),
        .proposed = bytes_from_string(row->proposed),
        .duration = bytes_from_string(row->duration),
        .break_period = bytes_from_string(row->period),
    };

    return lease_request_parse(arena, &headers, ret_request, ret_header);
}

/* Rule: a needed header that is missing is 400 MissingRequiredHeader, one with a wrong value 400
 * InvalidHeaderValue; what an action does not use is not looked at. semantics 3.1 */
static void headers_are_checked(void **state)
{
    static const struct row rows[] = {
        { NULL, ID_A, NULL, NULL, NULL, E_MissingRequiredHeader, "x-ms-lease-action" },
        { "", ID_A, NULL, NULL, NULL, E_InvalidHeaderValue, "x-ms-lease-action" },
        { "steal", ID_A, NULL, NULL, NULL, E_InvalidHeaderValue, "x-ms-lease-action" },

        { "acquire", NULL, NULL, NULL, NULL, E_MissingRequiredHeader, SECONDS },
        { "acquire", NULL, NULL, "-1", NULL, OK, NULL },
        { "Acquire", NULL, NULL, "15", NULL, OK, NULL },
        { "acquire", NULL, ID_B, "60", NULL, OK, NULL },
        { "acquire", NULL, NULL, "14", NULL, E_InvalidHeaderValue, SECONDS },
        { "acquire", NULL, NULL, "61", NULL, E_InvalidHeaderValue, SECONDS },
        { "acquire", NULL, NULL, "0", NULL, E_InvalidHeaderValue, SECONDS },
        { "acquire", NULL, NULL, "-2", NULL, E_InvalidHeaderValue, SECONDS },
        { "acquire", NULL, NULL, "", NULL, E_InvalidHeaderValue, SECONDS },
        { "acquire", NULL, NULL, "15s", NULL, E_InvalidHeaderValue, SECONDS },
        { "acquire", NULL, NULL, "99999999999999999999", NULL, E_InvalidHeaderValue, SECONDS },
        { "acquire", NULL, "A", "15", NULL, E_InvalidHeaderValue, "x-ms-proposed-lease-id" },
        { "acquire", "A", NULL, "15", "99", OK, NULL },

        { "renew", NULL, NULL, NULL, NULL, E_MissingRequiredHeader, "x-ms-lease-id" },
        { "renew", "A", NULL, NULL, NULL, E_InvalidHeaderValue, "x-ms-lease-id" },
        { "renew", ID_A, NULL, NULL, NULL, OK, NULL },
        { "renew", ID_A, "A", "1", "99", OK, NULL },

        { "change", NULL, ID_B, NULL, NULL, E_MissingRequiredHeader, "x-ms-lease-id" },
        { "change", ID_A, NULL, NULL, NULL, E_MissingRequiredHeader, "x-ms-proposed-lease-id" },
        { "change", ID_A, "B", NULL, NULL, E_InvalidHeaderValue, "x-ms-proposed-lease-id" },
        { "change", ID_A, ID_B, NULL, NULL, OK, NULL },

        { "release", NULL, NULL, NULL, NULL, E_MissingRequiredHeader, "x-ms-lease-id" },
        { "release", "", NULL, NULL, NULL, E_InvalidHeaderValue, "x-ms-lease-id" },
        { "release", ID_A, NULL, NULL, NULL, OK, NULL },

        { "break", NULL, NULL, NULL, NULL, OK, NULL },
        { "BREAK", NULL, NULL, NULL, "0", OK, NULL },
        { "break", "A", "B", "C", "60", OK, NULL },
        { "break", NULL, NULL, NULL, "61", E_InvalidHeaderValue, PERIOD },
        { "break", NULL, NULL, NULL, "-1", E_InvalidHeaderValue, PERIOD },
        { "break", NULL, NULL, NULL, "", E_InvalidHeaderValue, PERIOD },
    };
    struct arena *arena = arena_new(65536);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct lease_request request;
        const char *at_fault = NULL;
        enum error e = parse(arena, &rows[i], &request, &at_fault);

        if (e != rows[i].expected)
            fail_msg("row %zu: %s, not %s", i, error_code(e), error_code(rows[i].expected));
        if (e)
            assert_string_equal(at_fault, rows[i].at_fault);
    }
    arena_free(arena);
}

/* Rule: values are taken over; ids in any form of a GUID are the same id; each acquire without one
 * gets an id of its own. semantics 3.1 */
static void values_are_read(void **state)
{
    static const struct row acquire = { .action = "acquire", .duration = "-1" };
    static const struct row change = { .action = "change", .id = ID_A, .proposed = ID_B };
    static const struct row break_now = { .action = "break", .period = "7" };
    static const struct row break_later = { .action = "break" };
    struct arena *arena = arena_new(65536);
    struct lease_request request, other;
    const char *at_fault;
    struct guid a, b;

    (void)state;
    assert_int_equal(parse(arena, &acquire, &request, &at_fault), OK);
    assert_int_equal(parse(arena, &acquire, &other, &at_fault), OK);
    assert_int_equal(request.action, LEASE_ACQUIRE);
    assert_int_equal(request.duration_s, LEASE_INFINITE);
    assert_null(request.proposed);
    assert_false(guid_equal(&request.generated, &other.generated));

    assert_int_equal(parse(arena, &change, &request, &at_fault), OK);
    assert_true(guid_parse(bytes_from_string(ID_A), &a));
    assert_true(
        guid_parse(bytes_from_string("ca761232ed4211cebacd00aa0057b224"), &b)); /* ID_B, bare */
    assert_true(guid_equal(request.id, &a));
    assert_true(guid_equal(request.proposed, &b));

    assert_int_equal(parse(arena, &break_now, &request, &at_fault), OK);
    assert_int_equal(request.break_period_s, 7);
    assert_int_equal(parse(arena, &break_later, &request, &at_fault), OK);
    assert_int_equal(request.break_period_s, -1);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(values_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
