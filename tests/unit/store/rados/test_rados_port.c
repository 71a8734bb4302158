/* The fake RADOS does what a port must do, and goes wrong only as it was asked to. store/rados/port.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../rados/conformance.h"
#include "../../../rados/fake.h"
#include "store/rados/port_merge.h"

static void settle(struct port_under_test *under_test)
{
    while (fake_step(under_test->context))
        ;
}

static int set_up(void **state)
{
    static struct port_under_test under_test;
    struct fake *fake = fake_new((struct fake_options){ .seed = 7, .late = 3 });

    under_test = (struct port_under_test){ fake_client(fake), settle, fake };
    *state = &under_test;
    return 0;
}

static int tear_down(void **state)
{
    struct port_under_test *under_test = *state;

    fake_free(under_test->context);
    return 0;
}

static void count(struct port_op *op)
{
    ++*(unsigned *)op->context;
    port_op_free(op);
}

static void send_set(struct port *port, const char *key, unsigned *counted)
{
    struct port_op *op = port_op_new(count, counted);

    port_set(op, bytes_from_string(key), bytes_from_string("v"));
    port_send(port, "o", op);
}

/* Its ops are applied or not, and never answered; others' are. */
static void killed_client(void **state)
{
    bool was_applied = false, was_lost = false;

    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct fake *fake = fake_new((struct fake_options){ .seed = seed });
        struct port *dead = fake_client(fake), *alive = fake_client(fake);
        unsigned answered_dead = 0, answered = 0;

        send_set(dead, "dead", &answered_dead);
        send_set(alive, "alive", &answered);
        fake_client_kill(fake, dead);
        while (fake_step(fake))
            ;
        assert_int_equal(answered_dead, 0);
        assert_int_equal(answered, 1);
        assert_non_null(fake_row(fake, "o", bytes_from_string("alive")).ptr);
        if (fake_row(fake, "o", bytes_from_string("dead")).ptr)
            was_applied = true;
        else
            was_lost = true;
        fake_free(fake);
    }
    assert_true(was_applied && was_lost);
}

/* A resent op is applied twice, and its answer is that of the second time. */
static void resent_op(void **state)
{
    struct fake *fake = fake_new((struct fake_options){ .seed = 1, .resent = 1 });
    struct port *port = fake_client(fake);
    unsigned answered = 0;

    (void)state;
    send_set(port, "k", &answered);
    while (fake_step(fake))
        ;
    assert_int_equal(fake_applied(fake), 2);
    assert_int_equal(answered, 1);
    fake_free(fake);
}

/* What grows is refused; what does not is not. */
static void full_pool(void **state)
{
    struct port_under_test *under_test = *state;
    struct fake *fake = under_test->context;
    unsigned answered = 0;

    send_set(under_test->port, "k", &answered);
    settle(under_test);
    fake_set_full(fake, true);
    send_set(under_test->port, "new", &answered);
    settle(under_test);
    assert_null(fake_row(fake, "o", bytes_from_string("new")).ptr);
    fake_set_full(fake, false);
    send_set(under_test->port, "new", &answered);
    settle(under_test);
    assert_non_null(fake_row(fake, "o", bytes_from_string("new")).ptr);
    assert_int_equal(fake_row_count(fake, "o"), 2);
    assert_int_equal(answered, 3);
}

/* Rows that an op changes are sent once each, as they are to be; not where the order matters. */
static void merged_changes(void **state)
{
    unsigned answered = 0;
    struct port_op *op = port_op_new(count, &answered);
    struct port_merged merged;

    (void)state;
    port_compare(op, bytes_from_string("guard"), bytes_from_string("v"));
    for (unsigned i = 0; i < 10; i++) {
        struct bytes value = arena_printf(op->arena, "%u", i);

        port_set(op, bytes_from_string("a"), value);
        port_remove(op, bytes_from_string("b"));
        port_set(op, bytes_from_string("c"), value);
        port_set(op, arena_printf(op->arena, "own%u", i), value);
    }
    port_remove(op, bytes_from_string("c"));
    assert_true(port_merge(op, &merged));
    assert_int_equal(merged.set.count, 11);
    assert_memory_equal(merged.set.keys[0], "a", merged.set.key_sizes[0]);
    assert_memory_equal(merged.set.values[0], "9", merged.set.value_sizes[0]);
    assert_int_equal(merged.removed.count, 2);
    assert_memory_equal(merged.removed.keys[1], "c", merged.removed.key_sizes[1]);
    port_remove_range(op, bytes_from_string("d"), bytes_from_string("e"));
    assert_false(port_merge(op, &merged));
    port_op_free(op);

    op = port_op_new(count, &answered);
    port_remove(op, bytes_from_string("a"));
    port_set(op, bytes_from_string("a"), bytes_from_string("1"));
    assert_false(port_merge(op, &merged)); /* refused where there is no such object */
    port_op_free(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFORMANCE_TESTS(set_up, tear_down),
        cmocka_unit_test(killed_client),
        cmocka_unit_test(resent_op),
        cmocka_unit_test(merged_changes),
        cmocka_unit_test_setup_teardown(full_pool, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
