/* Where requests are forwarded to: cluster/route.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "cluster/route.h"

static unsigned woken;

static void wake(struct waiter *waiter)
{
    (void)waiter;
    woken++;
}

static struct owner_record record_of(uint64_t incarnation, const char *forward)
{
    struct owner_record record = { .cell = 1, .incarnation = incarnation, .is_held = true };

    snprintf(record.owner.forward, sizeof record.owner.forward, "%s", forward);
    return record;
}

static enum route_found find(struct route *route, struct owner_target *ret_target)
{
    const struct request request = { .method = METHOD_GET };
    uint64_t asked_ns;

    return route_find(route, &request, ret_target, &asked_ns);
}

static void owners_come_and_go(void **state)
{
    struct owner_record record = record_of(3, "192.0.2.1:10020");
    struct route route = { .is_open = false };
    struct owner_target target;

    (void)state;
    route_init(&route);
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    assert_true(route_saw(&route, &record, 1));
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    assert_int_equal(target.incarnation, 3);
    assert_int_equal(target.port, 10020);
    assert_false(route_saw(&route, &record, 2));
    assert_false(route_saw(&route, NULL, 3));
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    record.incarnation = 4;
    assert_true(route_saw(&route, &record, 4));
    record.is_held = false;
    assert_false(route_saw(&route, &record, 5));
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    route_close(&route);
    assert_int_equal(find(&route, &target), ROUTE_CLOSED);
}

/* An owner that leaves stays refused for as long as the record names it. */
static void an_owner_leaves(void **state)
{
    struct owner_record record = record_of(3, "192.0.2.1:10020");
    struct route route = { .is_open = false };
    struct owner_target target;

    (void)state;
    route_init(&route);
    assert_true(route_saw(&route, &record, 1));
    route_refused(&route, 2);
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    route_refused(&route, 3);
    route_refused(&route, 1);
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    assert_false(route_saw(&route, &record, 2));
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    record.incarnation = 4;
    assert_true(route_saw(&route, &record, 3));
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    assert_int_equal(target.incarnation, 4);
}

/* Whatever the record says: it is an address, or nothing is forwarded. */
static void addresses(void **state)
{
    static const char *const wrong[] = {
        "",           "192.0.2.1",     "192.0.2.1:",        "192.0.2.1:65536", ":10020",
        "name:10020", "192.0.2.1:010", "2001:db8::1:10020", "[2001:db8::1]",   "[192.0.2.1]:10020",
        "1.2.3.4:5;6"
    };
    struct route route = { .is_open = false };
    struct owner_record record = record_of(1, "[2001:db8::1]:10020");
    struct owner_target target;

    (void)state;
    route_init(&route);
    assert_true(route_saw(&route, &record, 1));
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        record = record_of(2 + i, wrong[i]);
        assert_false(route_saw(&route, &record, 2 + i));
        assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    }
}

static void waiters(void **state)
{
    struct owner_record record = record_of(1, "192.0.2.1:10020");
    struct route route = { .is_open = false };
    struct waiter first = { .wake = wake }, second = { .wake = wake };

    (void)state;
    route_init(&route);
    (void)route_saw(&route, NULL, 1);
    route_wait(&route, &first);
    route_wait(&route, &second);
    (void)route_saw(&route, NULL, 1); /* the same read */
    assert_int_equal(woken, 0);
    (void)route_saw(&route, NULL, 2);
    assert_int_equal(woken, 2);
    route_wait(&route, &first);
    (void)route_saw(&route, &record, 2); /* another owner */
    assert_int_equal(woken, 3);
    route_wait(&route, &first);
    route_close(&route);
    assert_int_equal(woken, 4);
    route_wait(&route, &first); /* nobody would wake it */
    assert_int_equal(woken, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_come_and_go),
        cmocka_unit_test(an_owner_leaves),
        cmocka_unit_test(addresses),
        cmocka_unit_test(waiters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
