/* The steps of SMB requests grow no faster than n log n in the sets that they touch, and a connection that ends does a bounded
 * part of its work at a time. decision: 973 */
#include "../smb/asking.h"
#include "steps.h"

#include <math.h>
#include <stdio.h>

#include "base/endian.h"
#include "smb_protocol/limits.h"

#define SMALL              25u
#define MEDIUM             100u
#define LARGE              400u
/* As test_growth.c. */
#define SLACK              1.5
#define LEASE              0xFFu
#define CACHES_R           1u
#define REQUEST_RESUME_KEY 0x00140078u
#define COPY_CHUNKS        0x001440F2u
#define RESUME_KEY_BYTES   24u
#define CHUNKS             256u

typedef uint64_t growing_fn(struct client *own, struct client *other, unsigned size);

static struct client *begin(struct world *world)
{
    struct client *c = client_begin(world, SMB_302);

    client_charge(c, 1, 1200);
    return c;
}

static void settle(struct client *own, struct client *other)
{
    do {
        while (!client_has_none(own))
            client_next(own);
        while (!client_has_none(other))
            client_next(other);
    } while (client_is_posted(own) || client_is_posted(other));
}

static double steps_of(growing_fn *grows, unsigned size)
{
    struct world *world = world_new(true);
    struct client *own = begin(world), *other = begin(world);
    uint64_t steps = grows(own, other, size);

    client_free(own);
    client_free(other);
    world_free(world);
    return (double)steps;
}

static void expect_growth(growing_fn *grows)
{
    double small = steps_of(grows, SMALL), medium = steps_of(grows, MEDIUM);
    double large = steps_of(grows, LARGE);
    double may = SLACK * (LARGE * log(LARGE)) / (MEDIUM * log(MEDIUM));

    print_message("%.0f, %.0f, %.0f steps\n", small, medium, large);
    assert_true(large - small <= may * (medium - small));
}

/* ---- leases that one write breaks ---- */

static struct bytes lease_context(struct client *c, unsigned key)
{
    char data[32] = { 0 };
    struct text text;
    struct wire_writer w;

    le32_put(data, key + 1);
    le32_put(data + 16, CACHES_R);
    text_init(&text, client_arena(c), 64);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, 0);
    wire_put_u16(&w, 16);
    wire_put_u16(&w, 4);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, 24);
    wire_put_u32(&w, sizeof data);
    wire_put(&w, bytes_of("RqLs", 4));
    wire_put_u32(&w, 0);
    wire_put(&w, bytes_of(data, sizeof data));
    return text_bytes(&text);
}

/* All leases of a file, each of which is sent a break. */
static uint64_t breaks_leases(struct client *own, struct client *other, unsigned size)
{
    struct open_file file;
    uint64_t before;

    for (unsigned i = 0; i < size; i++) {
        const struct creating creating = { .level = LEASE, .contexts = lease_context(own, i) };

        assert_int_equal(client_create(own, "x", &creating, &file), 0);
    }
    client_open(other, "x", &file);
    before = steps_now();
    assert_int_equal(client_write(other, &file, 0, "x"), 0);
    settle(own, other);
    return steps_now() - before;
}

/* One of the leases that a connection has. */
static uint64_t breaks_one_of_many(struct client *own, struct client *other, unsigned size)
{
    struct open_file file;
    uint64_t before;

    for (unsigned i = 0; i < size; i++) {
        const struct creating creating = { .level = LEASE, .contexts = lease_context(own, i) };
        char name[16];

        snprintf(name, sizeof name, "x%u", i);
        assert_int_equal(client_create(own, name, &creating, &file), 0);
    }
    client_open(other, "x0", &file);
    before = steps_now();
    assert_int_equal(client_write(other, &file, 0, "x"), 0);
    settle(own, other);
    return steps_now() - before;
}

/* ---- copies of chunks ---- */

static struct reply control(struct client *c, const struct open_file *file, uint32_t code,
                            struct bytes input, uint32_t output_max)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_IOCTL, 0);
    put_control(&w, file, code, input, output_max);
    return client_ask(c, &s);
}

/* Sends a copy of as many chunks as there may be, next to `size` handles of the file. Returns its message id; *ret_before: the steps
 * before it was sent */
static uint64_t send_copy(struct client *own, unsigned size, uint64_t *ret_before)
{
    struct sending s;
    struct open_file from, to, more;
    struct reply reply;
    struct text text;
    struct wire_writer w, body;

    client_open(own, "x", &from);
    client_open(own, "x", &to);
    assert_int_equal(client_write(own, &from, 0, "sixteen bytes...."), 0);
    for (unsigned i = 2; i < size; i++)
        client_open(own, "x", &more);
    reply = control(own, &from, REQUEST_RESUME_KEY, bytes_of("", 0), 32);
    text_init(&text, client_arena(own), 0);
    wire_writer_init(&w, &text);
    wire_put(&w, bytes_of(reply.bytes.ptr + SMB_HEADER_SIZE + 48, RESUME_KEY_BYTES));
    wire_put_u32(&w, CHUNKS);
    wire_put_u32(&w, 0);
    for (unsigned i = 0; i < CHUNKS; i++) {
        wire_put_u64(&w, 0);
        wire_put_u64(&w, 8192 + 16 * (uint64_t)i);
        wire_put_u32(&w, 16);
        wire_put_u32(&w, 0);
    }
    sending_begin(own, &s);
    body = sending_add(own, &s, SMB_IOCTL, 0);
    put_control(&body, &to, COPY_CHUNKS, text_bytes(&text), 12);
    *ret_before = steps_now();
    return client_send(own, &s);
}

static uint64_t copies_chunks(struct client *own, struct client *other, unsigned size)
{
    uint64_t before, id = send_copy(own, size, &before);
    struct reply reply = client_receive(own, id);

    (void)other;
    assert_status(reply, STATUS_SUCCESS);
    return steps_now() - before;
}

/* ---- the end of a connection ---- */

#define HANDLES_OF_FILE 1900u
#define HANDLES         16000u
/* Of a run of the connection, after which its thread serves others: below 20 ms at some 10^9 steps a second. */
#define STEPS_OF_RUN    12000000u

/* A connection with many handles ends: others of its thread wait for one slice of its work at most. */
static void ends_in_slices(void **state)
{
    struct world *world = world_new(true);
    struct client *own = begin(world), *other = begin(world);
    uint64_t most = 0, before = steps_now();
    struct open_file file;
    unsigned runs = 0;

    (void)state;
    for (unsigned i = 0; i < HANDLES; i++) {
        char name[16];

        snprintf(name, sizeof name, "x%u", i / HANDLES_OF_FILE);
        client_open(own, name, &file);
        while (!client_has_none(own))
            client_next(own);
    }
    before = steps_now();
    client_cut(own);
    for (most = steps_now() - before; client_is_posted(own); runs++) {
        before = steps_now();
        client_has_none(own);
        most = steps_now() - before > most ? steps_now() - before : most;
        client_open(other, "y", &file); /* it is served in between */
        assert_int_equal(client_close(other, &file), 0);
    }
    print_message("%u runs of at most %llu steps\n", runs, (unsigned long long)most);
    assert_true(runs >= HANDLES / SMB_CLOSED_AT_ONCE - 1);
    assert_true(most <= STEPS_OF_RUN);
    client_free(own);
    client_free(other);
    world_free(world);
}

/* Others of the thread also run between the slices of a copy of chunks. */
static void copies_in_slices(void **state)
{
    struct world *world = world_new(true);
    struct client *own = begin(world), *other = begin(world);
    uint64_t most = 0, before;
    struct open_file file;
    struct reply reply;
    unsigned runs = 0;

    (void)state;
    send_copy(own, HANDLES_OF_FILE, &before);
    for (most = steps_now() - before; client_is_posted(own); runs++) {
        before = steps_now();
        client_has_none(own);
        most = steps_now() - before > most ? steps_now() - before : most;
        client_open(other, "y", &file);
        assert_int_equal(client_close(other, &file), 0);
    }
    print_message("%u runs of at most %llu steps\n", runs, (unsigned long long)most);
    reply = client_next(own);
    assert_status(reply, STATUS_SUCCESS);
    assert_true(runs > 1 && most <= STEPS_OF_RUN);
    client_free(own);
    client_free(other);
    world_free(world);
}

#define GROWTH(grows)                                                                              \
    static void grows##_grows(void **state)                                                        \
    {                                                                                              \
        (void)state;                                                                               \
        expect_growth(grows);                                                                      \
    }
GROWTH(breaks_leases)
GROWTH(copies_chunks)

/* It costs the same however many others there are. */
static void one_break_does_not_grow(void **state)
{
    double medium = steps_of(breaks_one_of_many, MEDIUM);
    double large = steps_of(breaks_one_of_many, LARGE);

    (void)state;
    print_message("%.0f, %.0f steps\n", medium, large);
    assert_true(large <= SLACK * medium);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaks_leases_grows),     cmocka_unit_test(copies_chunks_grows),
        cmocka_unit_test(one_break_does_not_grow), cmocka_unit_test(ends_in_slices),
        cmocka_unit_test(copies_in_slices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
