#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#define B(string) bytes_from_string(string)

static unsigned done_count;

static void done(struct port_op *op)
{
    unsigned *order = op->context;

    done_count++;
    if (order)
        *order = done_count;
}

static struct port_op *op_new(void)
{
    return port_op_new(done, NULL);
}

static enum port_result run(struct port_under_test *u, const char *object, struct port_op *op)
{
    enum port_result result;

    port_send(u->port, object, op);
    u->settle(u);
    result = op->result;
    port_op_free(op);
    return result;
}

static enum port_result set(struct port_under_test *u, const char *object, const char *key,
                            const char *value)
{
    struct port_op *op = op_new();

    port_set(op, B(key), B(value));
    return run(u, object, op);
}

/* value NULL: no such row. */
static void expect_row(struct port_under_test *u, const char *object, const char *key,
                       const char *value)
{
    struct port_op *op = op_new();
    struct port_step *step = port_get(op, B(key));

    port_send(u->port, object, op);
    u->settle(u);
    assert_int_equal(op->result, PORT_OK);
    assert_int_equal(step->row_count, value ? 1 : 0);
    if (value) {
        assert_true(bytes_is(step->rows[0].key, key));
        assert_true(bytes_is(step->rows[0].value, value));
    }
    port_op_free(op);
}

/* rule (3) */
void conformance_absent_objects(void **state)
{
    struct port_under_test *u = *state;
    struct port_op *op = op_new();

    port_get(op, B("k"));
    assert_int_equal(run(u, "none", op), PORT_ABSENT);
    op = op_new();
    port_list(op, B(""), B(""), 10);
    assert_int_equal(run(u, "none", op), PORT_ABSENT);
    op = op_new();
    port_compare(op, B("k"), B(""));
    port_set(op, B("k"), B("v"));
    assert_int_equal(run(u, "none", op), PORT_ABSENT);
    op = op_new();
    port_remove(op, B("k"));
    assert_int_equal(run(u, "none", op), PORT_ABSENT);
    op = op_new();
    port_delete_object(op);
    assert_int_equal(run(u, "none", op), PORT_ABSENT);
    op = op_new();
    port_get(op, B("k"));
    assert_int_equal(run(u, "none", op), PORT_ABSENT);

    /* Behind what makes it, compares see it empty. */
    op = op_new();
    port_create(op, false);
    port_compare(op, B("k"), B(""));
    port_set(op, B("k"), B("v"));
    assert_int_equal(run(u, "made", op), PORT_OK);
    expect_row(u, "made", "k", "v");
}

void conformance_creation(void **state)
{
    struct port_under_test *u = *state;

    for (int i = 0; i < 2; i++) {
        struct port_op *op = op_new();

        port_create(op, true);
        port_set(op, B("k"), B(i == 0 ? "first" : "second"));
        assert_int_equal(run(u, "new", op), i == 0 ? PORT_OK : PORT_EXISTS);
    }
    expect_row(u, "new", "k", "first");
}

/* rule (2) */
void conformance_compares_see_the_state_before(void **state)
{
    struct port_under_test *u = *state;
    struct port_op *op;

    assert_int_equal(set(u, "o", "a", "1"), PORT_OK);
    op = op_new();
    port_set(op, B("a"), B("2"));
    port_compare(op, B("a"), B("1"));
    port_set(op, B("b"), B("2"));
    port_compare(op, B("b"), B(""));
    assert_int_equal(run(u, "o", op), PORT_OK);
    expect_row(u, "o", "a", "2");
    expect_row(u, "o", "b", "2");
    /* An empty row and none are the same to a compare. */
    assert_int_equal(set(u, "o", "empty", ""), PORT_OK);
    op = op_new();
    port_compare(op, B("empty"), B(""));
    port_compare(op, B("none"), B(""));
    port_get(op, B("a"));
    assert_int_equal(run(u, "o", op), PORT_OK);
    expect_row(u, "o", "empty", "");
    expect_row(u, "o", "none", NULL);
}

/* rule (1) */
void conformance_all_or_none(void **state)
{
    struct port_under_test *u = *state;
    struct port_op *op;

    assert_int_equal(set(u, "o", "a", "1"), PORT_OK);
    op = op_new();
    port_set(op, B("b"), B("1"));
    port_remove(op, B("a"));
    port_compare(op, B("a"), B("other"));
    assert_int_equal(run(u, "o", op), PORT_REFUSED);
    expect_row(u, "o", "a", "1");
    expect_row(u, "o", "b", NULL);

    /* The longer and the shorter are others. */
    op = op_new();
    port_compare(op, B("a"), B("11"));
    port_get(op, B("a"));
    assert_int_equal(run(u, "o", op), PORT_REFUSED);
    op = op_new();
    port_compare(op, B("a"), B(""));
    port_get(op, B("a"));
    assert_int_equal(run(u, "o", op), PORT_REFUSED);
}

void conformance_removal(void **state)
{
    struct port_under_test *u = *state;
    static const char *const keys[] = { "a", "b", "b1", "b2", "c" };
    struct port_op *op = op_new();

    for (size_t i = 0; i < 5; i++)
        port_set(op, B(keys[i]), B("v"));
    assert_int_equal(run(u, "o", op), PORT_OK);
    op = op_new();
    port_remove_range(op, B("b"), B("b2"));
    port_remove(op, B("never"));
    assert_int_equal(run(u, "o", op), PORT_OK);
    expect_row(u, "o", "a", "v");
    expect_row(u, "o", "b", NULL);
    expect_row(u, "o", "b1", NULL);
    expect_row(u, "o", "b2", "v");
    op = op_new();
    port_compare(op, B("a"), B("v"));
    port_delete_object(op);
    assert_int_equal(run(u, "o", op), PORT_OK);
    op = op_new();
    port_get(op, B("a"));
    assert_int_equal(run(u, "o", op), PORT_ABSENT);
    /* Made again, it is empty. */
    assert_int_equal(set(u, "o", "d", "v"), PORT_OK);
    expect_row(u, "o", "a", NULL);
}

/* Of several changes of one row in an op the last counts, whatever it is; with a compare before them, or without. */
void conformance_last_change(void **state)
{
    struct port_under_test *u = *state;

    assert_int_equal(set(u, "o", "guard", "v"), PORT_OK);
    for (unsigned compares = 0; compares < 2; compares++) {
        struct port_op *op = op_new();

        if (compares)
            port_compare(op, B("guard"), B("v"));
        port_set(op, B("changed"), B("1"));
        port_set(op, B("gone"), B("1"));
        port_remove(op, B("changed"));
        port_remove(op, B("back"));
        port_set(op, B("changed"), B(compares ? "3" : "2"));
        port_remove(op, B("gone"));
        port_set(op, B("back"), B("1"));
        assert_int_equal(run(u, "o", op), PORT_OK);
        expect_row(u, "o", "changed", compares ? "3" : "2");
        expect_row(u, "o", "gone", NULL);
        expect_row(u, "o", "back", "1");
    }
}

static void expect_list(struct port_under_test *u, const char *after, const char *prefix,
                        uint32_t max, const char *expected, bool is_cut)
{
    struct port_op *op = op_new();
    struct port_step *step = port_list(op, B(after), B(prefix), max);
    char found[64] = "";
    size_t at = 0;

    port_send(u->port, "list", op);
    u->settle(u);
    assert_int_equal(op->result, PORT_OK);
    for (uint32_t i = 0; i < step->row_count; i++)
        at +=
            (size_t)snprintf(found + at, sizeof found - at, "%.*s ", BYTES_ARG(step->rows[i].key));
    assert_string_equal(found, expected);
    assert_int_equal(step->is_cut, is_cut);
    port_op_free(op);
}

void conformance_lists(void **state)
{
    struct port_under_test *u = *state;
    struct port_op *op = op_new();
    struct port_step *first, *second;
    static const char *const keys[] = { "A", "L1", "L2", "L3", "M1" };
    char key[16];

    for (size_t i = 0; i < 5; i++)
        port_set(op, B(keys[i]), B("v"));
    assert_int_equal(run(u, "list", op), PORT_OK);
    expect_list(u, "", "", 10, "A L1 L2 L3 M1 ", false);
    expect_list(u, "", "L", 10, "L1 L2 L3 ", false);
    expect_list(u, "", "L", 2, "L1 L2 ", true);
    expect_list(u, "", "L", 3, "L1 L2 L3 ", false);
    expect_list(u, "L1", "L", 10, "L2 L3 ", false);
    expect_list(u, "L", "L", 10, "L1 L2 L3 ", false);
    expect_list(u, "L3", "L", 10, "", false);
    expect_list(u, "", "N", 10, "", false);

    /* Several in one op, and as many rows as there may be. */
    op = op_new();
    for (uint32_t i = 0; i < PORT_ROWS_MAX + 1; i++) {
        snprintf(key, sizeof key, "P%05u", i);
        port_set(op, B(key), B("v"));
    }
    assert_int_equal(run(u, "list", op), PORT_OK);
    op = op_new();
    first = port_list(op, B(""), B("P"), PORT_ROWS_MAX - 1);
    second = port_get(op, B("L2"));
    port_send(u->port, "list", op);
    u->settle(u);
    assert_int_equal(op->result, PORT_OK);
    assert_int_equal(first->row_count, PORT_ROWS_MAX - 1);
    assert_true(first->is_cut);
    assert_int_equal(second->row_count, 1);
    port_op_free(op);
}

/* rule (4) */
void conformance_order(void **state)
{
    struct port_under_test *u = *state;
    enum { ROUNDS = 50 };
    struct port_op *write[ROUNDS], *read[ROUNDS];
    struct port_step *step[ROUNDS];
    unsigned wrote[ROUNDS], was_read[ROUNDS];
    char before[16] = "", value[16];

    assert_int_equal(set(u, "o", "other", "v"), PORT_OK);
    done_count = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        write[i] = port_op_new(done, &wrote[i]);
        snprintf(value, sizeof value, "%u", i + 1);
        port_compare(write[i], B("n"), B(before));
        port_set(write[i], B("n"), B(value));
        port_send(u->port, "o", write[i]);
        read[i] = port_op_new(done, &was_read[i]);
        step[i] = port_get(read[i], B("n"));
        port_send(u->port, "o", read[i]);
        memcpy(before, value, sizeof value);
    }
    u->settle(u);
    assert_int_equal(done_count, 2 * ROUNDS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        snprintf(value, sizeof value, "%u", i + 1);
        assert_int_equal(write[i]->result, PORT_OK);
        assert_int_equal(read[i]->result, PORT_OK);
        assert_int_equal(step[i]->row_count, 1);
        assert_true(bytes_is(step[i]->rows[0].value, value));
        assert_true(wrote[i] < was_read[i]);
        port_op_free(write[i]);
        port_op_free(read[i]);
    }
}

void conformance_sizes(void **state)
{
    struct port_under_test *u = *state;
    size_t size = 46u << 20;
    char *large = calloc(1, size);
    struct port_op *op = op_new();

    port_set(op, B("a"), bytes_of(large, size));
    port_set(op, B("b"), bytes_of(large, size));
    assert_int_equal(run(u, "o", op), PORT_TOO_LARGE);
    free(large);
    op = op_new();
    port_get(op, B("a"));
    assert_int_equal(run(u, "o", op), PORT_ABSENT);
}

static void expect_bytes(struct port_under_test *u, uint64_t offset, uint32_t length,
                         const char *expected)
{
    struct port_op *op = op_new();
    struct port_step *step = port_read(op, offset, length);

    port_send(u->port, "bytes", op);
    u->settle(u);
    assert_int_equal(op->result, PORT_OK);
    assert_int_equal(step->row_count, 1);
    assert_true(bytes_is(step->rows[0].value, expected));
    port_op_free(op);
}

/* The bytes of an object: written whole, read in part. */
void conformance_bytes(void **state)
{
    struct port_under_test *u = *state;
    struct port_op *op = op_new();

    port_read(op, 0, 10);
    assert_int_equal(run(u, "bytes", op), PORT_ABSENT);
    op = op_new();
    port_write(op, B("0123456789"));
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    expect_bytes(u, 0, 10, "0123456789");
    expect_bytes(u, 3, 4, "3456");
    expect_bytes(u, 8, 10, "89");
    expect_bytes(u, 10, 10, "");
    op = op_new();
    port_write(op, B("abc"));
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    expect_bytes(u, 0, 10, "abc");
    op = op_new();
    port_delete_object(op);
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    op = op_new();
    port_read(op, 0, 10);
    assert_int_equal(run(u, "bytes", op), PORT_ABSENT);
}

/* Empty: it has none. */
static void expect_label(struct port_under_test *u, struct bytes label)
{
    struct port_op *op = op_new();
    struct port_step *step = port_get_label(op);

    port_send(u->port, "bytes", op);
    u->settle(u);
    assert_int_equal(op->result, PORT_OK);
    assert_int_equal(step->row_count, label.len > 0);
    assert_true(bytes_equal(port_value(step), label));
    port_op_free(op);
}

/* The label stays when the bytes are written again, and goes with the object. */
void conformance_labels(void **state)
{
    struct port_under_test *u = *state;
    struct port_op *op = op_new();

    (void)port_get_label(op);
    assert_int_equal(run(u, "bytes", op), PORT_ABSENT);
    op = op_new();
    port_write(op, B("0123456789"));
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    expect_label(u, (struct bytes){ NULL, 0 });
    op = op_new();
    port_write(op, B("abc"));
    port_set_label(op, bytes_of("a\0b", 3));
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    expect_label(u, bytes_of("a\0b", 3));
    op = op_new();
    port_write(op, B("def"));
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    expect_label(u, bytes_of("a\0b", 3));
    op = op_new();
    port_compare_label(op, bytes_of("a\0c", 3));
    port_set_label(op, B("no"));
    assert_int_equal(run(u, "bytes", op), PORT_REFUSED);
    expect_label(u, bytes_of("a\0b", 3));
    op = op_new();
    port_compare_label(op, bytes_of("a\0b", 3));
    port_set_label(op, B("changed"));
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    expect_label(u, B("changed"));
    op = op_new();
    port_delete_object(op);
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    op = op_new();
    port_compare_label(op, B("changed"));
    port_set_label(op, B("no"));
    assert_int_equal(run(u, "bytes", op), PORT_ABSENT);
    op = op_new();
    port_write(op, B("new"));
    assert_int_equal(run(u, "bytes", op), PORT_OK);
    expect_label(u, (struct bytes){ NULL, 0 });
    op = op_new();
    port_delete_object(op);
    assert_int_equal(run(u, "bytes", op), PORT_OK);
}

static void note(void *context, const char *object)
{
    unsigned *seen = context;

    if (strcmp(object, "made") == 0)
        seen[0]++;
    else if (strcmp(object, "bytes") == 0)
        seen[1]++;
    else if (strcmp(object, "gone") == 0)
        seen[2]++;
}

/* Each object that is there is named once, whatever it has. */
void conformance_names(void **state)
{
    struct port_under_test *u = *state;
    struct port_op *op = op_new();
    unsigned seen[3] = { 0 };

    port_set(op, B("a"), B("1"));
    assert_int_equal(run(u, "made", op), PORT_OK);
    for (unsigned i = 0; i < 2; i++) {
        op = op_new();
        port_write(op, B("0123456789"));
        assert_int_equal(run(u, i ? "gone" : "bytes", op), PORT_OK);
    }
    op = op_new();
    port_delete_object(op);
    assert_int_equal(run(u, "gone", op), PORT_OK);
    assert_true(port_each_object(u->port, note, seen));
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 1);
    assert_int_equal(seen[2], 0);
    op = op_new();
    port_delete_object(op);
    assert_int_equal(run(u, "bytes", op), PORT_OK);
}
