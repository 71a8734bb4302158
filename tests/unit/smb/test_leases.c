/* Leases at the level of messages: one lease on several connections of a client, and breaks one after the other.
 * Which operation breaks what is tested in tests/unit/concurrency and tests/unit/file. ms-smb2: 3.3.4.7, 3.3.5.22.2 */
#include "client.h"

#include "base/endian.h"
#include "concurrency/opens.h"
#include "file/gate.h"
#include "service/waiting.h"

#define RH  (CACHING_READ | CACHING_HANDLE)
#define RWH CACHING_ALL

/* ---- creates with a lease of version 2 ---- */

static struct guid key_of(uint8_t number)
{
    return (struct guid){ { number, 0xAA } };
}

static struct creating leasing(struct client *c, uint8_t key, uint32_t state, uint16_t epoch)
{
    struct guid lease_key = key_of(key);
    struct text text;
    struct wire_writer w;

    text_init(&text, client_arena(c), 128);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, 0);
    wire_put_u16(&w, 16);
    wire_put_u16(&w, 4);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, 24);
    wire_put_u32(&w, 52);
    wire_put(&w, bytes_from_string("RqLs"));
    wire_put_zeros(&w, 4);
    wire_put_guid(&w, &lease_key);
    wire_put_u32(&w, state);
    wire_put_zeros(&w, 4 + 8 + 16);
    wire_put_u16(&w, epoch);
    wire_put_u16(&w, 0);
    return (struct creating){ .level = 0xFF, .contexts = text_bytes(&text) };
}

/* What the answer to a create says of its lease: the state, and *ret_epoch. */
static uint32_t lease_given(const struct reply *reply, uint16_t *ret_epoch)
{
    const char *context = memmem(reply->bytes.ptr, reply->bytes.len, "RqLs", 4);
    const char *data;

    assert_non_null(context);
    data = context + 8;
    *ret_epoch = le16_get(data + 16 + 4 + 4 + 8 + 16);
    return le32_get(data + 16);
}

static void opens_with(struct client *c, uint8_t key, uint32_t wants, uint16_t epoch,
                       uint32_t given, uint16_t given_epoch, struct open_file *ret_file)
{
    struct creating creating = leasing(c, key, wants, epoch);
    uint16_t got;

    assert_int_equal(client_create(c, "leased", &creating, ret_file), 0);
    assert_int_equal(lease_given(&ret_file->reply, &got), given);
    assert_int_equal(got, given_epoch);
}

static uint64_t send_create(struct client *c, const struct creating *creating)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CREATE, 0);
    put_create(&w, "leased", creating);
    return client_send(c, &s);
}

/* ---- breaks ---- */

static void is_told(struct client *c, uint8_t key, uint32_t holds, uint32_t to, uint16_t epoch)
{
    struct guid lease_key = key_of(key);
    struct reply reply = client_next(c);
    const char *body = reply.bytes.ptr + SMB_HEADER_SIZE;

    assert_int_equal(reply.header.command, SMB_OPLOCK_BREAK);
    assert_true(reply.header.message_id == UINT64_MAX);
    assert_int_equal(le16_get(body), 44);
    assert_int_equal(le16_get(body + 2), epoch);
    assert_int_equal(le32_get(body + 4), holds == CACHING_READ ? 0 : 1); /* to be acknowledged */
    assert_memory_equal(body + 8, lease_key.b, 16);
    assert_int_equal(le32_get(body + 24), holds);
    assert_int_equal(le32_get(body + 28), to);
}

static void acknowledges(struct client *c, uint8_t key, uint32_t keeps, enum nt_status expected)
{
    struct guid lease_key = key_of(key);
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_OPLOCK_BREAK, 0);
    wire_put_u16(&w, 36);
    wire_put_zeros(&w, 2 + 4);
    wire_put_guid(&w, &lease_key);
    wire_put_u32(&w, keeps);
    wire_put_u64(&w, 0);
    assert_status(client_ask(c, &s), expected);
}

/* Rule: a lease grows by any connection of its client, its epoch counts on, the oldest connection that has an open of it
 * is told of a break, once, and any may acknowledge it. */
static void one_lease_of_two_connections(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    struct open_file f, g;
    struct creating other;
    uint64_t waits;

    opens_with(c, 1, CACHING_READ, 5, CACHING_READ, 6, &f);
    opens_with(d, 1, RWH, 6, RWH, 7, &g);
    other = leasing(d, 2, RWH, 0);
    waits = send_create(d, &other);
    assert_status(client_next(d), STATUS_PENDING);
    is_told(c, 1, RWH, RH, 8);
    assert_true(client_has_none(c));
    assert_true(client_has_none(d));
    acknowledges(d, 3, RH, STATUS_OBJECT_NAME_NOT_FOUND);
    acknowledges(d, 1, RWH, STATUS_REQUEST_NOT_ACCEPTED);
    acknowledges(d, 1, RH, STATUS_SUCCESS);
    acknowledges(c, 1, RH, STATUS_UNSUCCESSFUL);
    assert_status(client_receive(d, waits), STATUS_SUCCESS);
    client_free(d);
    client_free(c);
}

/* Rule: what is asked for while a break is under way is told when that is acknowledged, first of handles, then of
 * reading, with one epoch; who has waited goes on after all of it. decision: 378 */
static void one_break_after_the_other(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    const struct creating opens = { .level = 0 };
    const struct creating overwrites = { .disposition = 4 };
    struct open_file f;
    uint64_t first, second;

    opens_with(c, 1, RWH, 0, RWH, 1, &f);
    first = send_create(d, &opens);
    assert_status(client_next(d), STATUS_PENDING);
    second = send_create(d, &overwrites);
    assert_status(client_next(d), STATUS_PENDING);
    is_told(c, 1, RWH, RH, 2);
    assert_true(client_has_none(c));
    acknowledges(c, 1, RH, STATUS_SUCCESS);
    is_told(c, 1, RH, CACHING_READ, 2);
    assert_true(client_has_none(d));
    acknowledges(c, 1, CACHING_READ, STATUS_SUCCESS);
    is_told(c, 1, CACHING_READ, 0, 2);
    assert_status(client_receive(d, first), STATUS_SUCCESS);
    assert_status(client_receive(d, second), STATUS_SUCCESS);
    acknowledges(c, 1, 0, STATUS_UNSUCCESSFUL);
    client_free(d);
    client_free(c);
}

/* Rule: an open of no caching keeps its lease's place: another one may ask for more, as if it were alone. */
static void a_lease_of_nothing(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f, g;

    opens_with(c, 1, 0, 3, 0, 3, &f);
    opens_with(c, 1, RWH, 3, RWH, 4, &g);
    opens_with(c, 1, RH, 4, RWH, 4, &g);
    client_free(c);
}

/* Rule: who has waited for as long as it may is answered, though nothing has changed: a client's break is only answered
 * for it by its own connection, and that is busy. */
static void a_wait_in_vain_ends(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    const struct creating opens = { .level = 0 };
    struct open_file f;
    uint64_t waits;

    assert_true(waiting_start());
    opens_with(c, 1, RWH, 0, RWH, 1, &f);
    waits = send_create(d, &opens);
    assert_status(client_next(d), STATUS_PENDING);
    clock_advance((GATE_OPEN_WAIT_MAX_S + 1) * (uint64_t)TICKS_PER_SECOND);
    assert_status(client_receive(d, waits), STATUS_SHARING_VIOLATION);
    client_free(d);
    client_free(c);
    waiting_stop(); /* nobody waits after it: the last of these tests */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_lease_of_two_connections),
        TEST(one_break_after_the_other),
        TEST(a_lease_of_nothing),
        TEST(a_wait_in_vain_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
