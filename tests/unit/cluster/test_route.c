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
    struct owner_record record = {
        .cell = 1, .incarnation = incarnation, .is_held = true, .owner.protocol = protocol_own()
    };

    snprintf(record.owner.forward, sizeof record.owner.forward, "%s", forward);
    return record;
}

static enum route_found find(struct route *route, struct owner_target *ret_target)
{
    uint64_t asked_ns;

    return route_find(route, 1, ret_target, &asked_ns);
}

static void owners_that_do_not_serve(void **state)
{
    struct owner_record record = record_of(3, "192.0.2.1:10020");
    uint32_t cells[CLUSTER_CELLS_MAX];
    struct route route;

    (void)state;
    route_init(&route);
    route_add(&route, 2);
    route_add(&route, 1);
    assert_int_equal(route_unserved(&route, cells), 2);
    assert_int_equal(cells[0], 1);
    assert_int_equal(cells[1], 2);
    (void)route_saw(&route, 1, &record, 1);
    assert_int_equal(route_unserved(&route, cells), 2); /* it opens its store */
    record.serves = true;
    (void)route_saw(&route, 1, &record, 2);
    assert_int_equal(route_unserved(&route, cells), 1);
    assert_int_equal(cells[0], 2);
    (void)route_saw(&route, 1, NULL, 3);
    assert_int_equal(route_unserved(&route, cells), 2);
    record.cell = 2;
    route_take(&route, &record);
    assert_int_equal(route_unserved(&route, cells), 1);
    assert_int_equal(cells[0], 1);
}

/* The newest version of the protocol that both understand is spoken; without one there is no target. */
static void versions(void **state)
{
    const struct protocol_range own = protocol_own();
    struct owner_record record = record_of(3, "192.0.2.1:10020");
    struct route route = { .is_open = false };
    struct owner_target target;

    (void)state;
    assert_int_equal(
        protocol_common((struct protocol_range){ 5, 8 }, (struct protocol_range){ 7, 9 }), 8);
    assert_int_equal(
        protocol_common((struct protocol_range){ 5, 6 }, (struct protocol_range){ 7, 9 }), 0);
    route_init(&route);
    route_add(&route, 1);
    record.owner.protocol.newest = own.newest + 3;
    (void)route_saw(&route, 1, &record, 1);
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    assert_int_equal(target.version, own.newest);
    record.owner.protocol.oldest = own.newest + 1;
    (void)route_saw(&route, 1, &record, 2);
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    record.owner.protocol = (struct protocol_range){ own.oldest - 1, own.oldest - 1 };
    (void)route_saw(&route, 1, &record, 3);
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
}

static void owners_come_and_go(void **state)
{
    struct owner_record record = record_of(3, "192.0.2.1:10020");
    struct route route = { .is_open = false };
    char host[OWNER_SMB_MAX + 1];
    struct owner_target target;

    (void)state;
    route_init(&route);
    route_add(&route, 1);
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    assert_true(route_saw(&route, 1, &record, 1));
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    assert_int_equal(target.incarnation, 3);
    assert_int_equal(target.port, 10020);
    assert_false(route_find_smb(&route, 1, host));
    snprintf(record.owner.smb, sizeof record.owner.smb, "%s", "one.example");
    assert_false(route_saw(&route, 1, &record, 2));
    assert_true(route_find_smb(&route, 1, host));
    assert_string_equal(host, "one.example");
    assert_false(route_find_smb(&route, 2, host));
    assert_false(route_saw(&route, 1, NULL, 3));
    assert_false(route_find_smb(&route, 1, host));
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    record.incarnation = 4;
    assert_true(route_saw(&route, 1, &record, 4));
    record.is_held = false;
    assert_false(route_saw(&route, 1, &record, 5));
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
    route_add(&route, 1);
    assert_true(route_saw(&route, 1, &record, 1));
    route_refused(&route, 1, 2);
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    route_refused(&route, 1, 3);
    route_refused(&route, 1, 1);
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    assert_false(route_saw(&route, 1, &record, 2));
    assert_int_equal(find(&route, &target), ROUTE_NO_OWNER);
    record.incarnation = 4;
    assert_true(route_saw(&route, 1, &record, 3));
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
    route_add(&route, 1);
    assert_true(route_saw(&route, 1, &record, 1));
    assert_int_equal(find(&route, &target), ROUTE_FOUND);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        record = record_of(2 + i, wrong[i]);
        assert_false(route_saw(&route, 1, &record, 2 + i));
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
    route_add(&route, 1);
    (void)route_saw(&route, 1, NULL, 1);
    route_wait(&route, &first);
    route_wait(&route, &second);
    (void)route_saw(&route, 1, NULL, 1); /* the same read */
    assert_int_equal(woken, 0);
    (void)route_saw(&route, 1, NULL, 2);
    assert_int_equal(woken, 2);
    route_wait(&route, &first);
    (void)route_saw(&route, 1, &record, 2); /* another owner */
    assert_int_equal(woken, 3);
    route_wait(&route, &first);
    route_close(&route);
    assert_int_equal(woken, 4);
    route_wait(&route, &first); /* nobody would wake it */
    assert_int_equal(woken, 5);
}

/* Each cell has an owner of its own; that of ours is nobody else. */
static void cells(void **state)
{
    struct owner_record first = record_of(7, "192.0.2.1:10020"),
                        second = record_of(2, "192.0.2.2:10020");
    uint32_t numbers[CLUSTER_CELLS_MAX];
    struct route route = { .is_open = false };
    struct owner_target target;
    uint64_t asked_ns;

    (void)state;
    second.cell = 3;
    route_init(&route);
    assert_int_equal(route_find(&route, 1, &target, &asked_ns), ROUTE_NO_OWNER);
    assert_false(route_saw(&route, 1, &first, 1)); /* it is not known */
    route_add(&route, 3);
    route_add(&route, 1);
    route_add(&route, 3);
    assert_int_equal(route_cells(&route, numbers), 2);
    assert_int_equal(numbers[0], 1);
    assert_int_equal(numbers[1], 3);
    assert_true(route_saw(&route, 1, &first, 1));
    assert_true(route_saw(&route, 3, &second, 1));
    assert_int_equal(route_find(&route, 3, &target, &asked_ns), ROUTE_FOUND);
    assert_int_equal(target.incarnation, 2);
    assert_int_equal(route_find(&route, 1, &target, &asked_ns), ROUTE_FOUND);
    assert_int_equal(target.incarnation, 7);
    assert_int_equal(route_find(&route, 2, &target, &asked_ns), ROUTE_NO_OWNER);
    second.incarnation = 9;
    route_take(&route, &second);
    assert_false(route_saw(&route, 3, NULL, 5)); /* it is ours */
    assert_int_equal(route_find(&route, 3, &target, &asked_ns), ROUTE_FOUND);
    assert_int_equal(target.incarnation, 9);
    assert_int_equal(route_find(&route, 1, &target, &asked_ns), ROUTE_FOUND);
    for (uint32_t cell = 10; cell < 10 + CLUSTER_CELLS_MAX; cell++)
        route_add(&route, cell);
    assert_int_equal(route_cells(&route, numbers), CLUSTER_CELLS_MAX);
    /* Connections to owners of a cell are told from those to others'. */
    assert_true(route_tag(1, 7) > route_tag(1, 0) && route_tag(1, UINT64_MAX) < route_tag(2, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_that_do_not_serve),
        cmocka_unit_test(owners_come_and_go),
        cmocka_unit_test(versions),
        cmocka_unit_test(an_owner_leaves),
        cmocka_unit_test(addresses),
        cmocka_unit_test(waiters),
        cmocka_unit_test(cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
