/* Leases at the level of messages: one lease on several connections of a client, and breaks one after the other.
 * Which operation breaks what is tested in tests/unit/concurrency and tests/unit/handles. ms-smb2: 3.3.4.7, 3.3.5.22.2 */
#include <stdio.h>

#include "client.h"

#include <stdlib.h>

#include "base/endian.h"
#include "base/gate.h"
#include "concurrency/opens.h"
#include "opens/open_state.h"
#include "service/waiting.h"
#include "smb_session/caching.h"
#include "smb_session/clients.h"
#include "smb_protocol/limits.h"

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

/* Rule: a lease grows by any connection of its client, its epoch counts on, the client is told of a break
 * once, and any connection may acknowledge it. */
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

#ifdef LAGRA_GATES
/* ---- breaks between the commit of an open and its response: decision 964 ---- */

/* A world with a store on disk, in which responses wait until what they show is durable. */
static int durable_world_setup(void **state)
{
    setenv("LAGRA_SMB_STORE", "synced", 1);
    *state = world_new(true);
    unsetenv("LAGRA_SMB_STORE");
    return 0;
}

/* Rule: the response to an open does not grant caching that was taken by a break sent earlier. */
static void a_break_before_the_response(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    const struct creating plain = { .level = 0 };
    struct creating again = leasing(c, 1, RH, 0);
    struct open_file f, other;
    struct reply reply;
    uint16_t epoch;
    uint64_t opens;

    opens_with(c, 1, CACHING_READ, 0, CACHING_READ, 1, &f);
    assert_int_equal(client_create(d, "leased", &plain, &other), 0);
    gate_hold_syncer(true);
    assert_int_equal(client_write(d, &other, 0, "x"), 0);
    is_told(c, 1, CACHING_READ, 0, 2);
    opens = send_create(c, &again);
    assert_true(client_has_none(c));
    assert_int_equal(client_write(d, &other, 0, "y"), 0);
    is_told(c, 1, RH, 0, 4);
    acknowledges(c, 1, 0, STATUS_SUCCESS);
    gate_hold_syncer(false);
    reply = client_receive(c, opens);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(lease_given(&reply, &epoch), 0);
    assert_int_equal(epoch, 4);
    client_free(d);
    client_free(c);
}

/* Rule: a break is sent after the response to an open, also if that waits for the next request of its compound. */
static void a_break_within_a_compound(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    const struct open_file same = { UINT64_MAX, UINT64_MAX, 0, 0, { .was_sealed = false } };
    const struct creating plain = { .level = 0 }, leased = leasing(c, 1, RH, 0);
    struct open_file other;
    struct sending s;
    struct wire_writer w;
    struct reply reply;
    uint16_t epoch;

    assert_int_equal(client_create(d, "leased", &plain, &other), 0);
    gate_hold_syncer(true);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CREATE, 0);
    put_create(&w, "leased", &leased);
    w = sending_add(c, &s, SMB_WRITE, SMB_FLAG_RELATED);
    wire_put_u16(&w, 49);
    wire_put_u16(&w, SMB_HEADER_SIZE + 48);
    wire_put_u32(&w, 1);
    wire_put_u64(&w, 0);
    put_file(&w, &same);
    wire_put_zeros(&w, 4 + 4 + 2 + 2);
    wire_put_u32(&w, 1); /* SMB2_WRITEFLAG_WRITE_THROUGH */
    wire_put(&w, bytes_from_string("c"));
    client_send(c, &s);
    assert_int_equal(client_write(d, &other, 0, "d"), 0);
    assert_true(client_has_none(c));
    gate_hold_syncer(false);
    reply = client_next(c);
    assert_int_equal(reply.header.command, SMB_CREATE);
    assert_int_equal(lease_given(&reply, &epoch), RH);
    assert_int_equal(client_next(c).header.command, SMB_WRITE);
    is_told(c, 1, RH, 0, 2);
    acknowledges(c, 1, 0, STATUS_SUCCESS);
    client_free(d);
    client_free(c);
}
#endif

/* A world in which the pool decides everything. */
static int pooled_world_setup(void **state)
{
    const struct smb_options options = { .allow_unencrypted = true, .always_wait = true };

    *state = world_new_with(&options);
    return 0;
}

static uint64_t send_close(struct client *c, const struct open_file *file)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CLOSE, 0);
    wire_put_u16(&w, 24);
    wire_put_zeros(&w, 6);
    put_file(&w, file);
    return client_send(c, &s);
}

static uint64_t send_echo(struct client *c)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_ECHO, 0);
    wire_put_u16(&w, 4);
    wire_put_zeros(&w, 2);
    return client_send(c, &s);
}

/* Rule: a break is not lost while the old open of a lease is being closed and the commit of the new one was not noticed yet. */
static void a_break_between_two_opens(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    const struct creating plain = { .level = 0 };
    struct creating again = leasing(c, 1, RH, 0);
    struct open_file f, other;
    struct reply reply;
    uint16_t epoch;
    uint64_t opens, closes, echoes;

    opens_with(c, 1, RH, 0, RH, 1, &f);
    assert_int_equal(client_create(d, "leased", &plain, &other), 0);
    assert_true(client_has_none(c));
    opens = send_create(c, &again);
    client_await_post(c);
    closes = send_close(c, &f);
    assert_int_equal(client_write(d, &other, 0, "d"), 0);
    echoes = send_echo(c);
    reply = client_receive(c, opens);
    assert_int_equal(lease_given(&reply, &epoch), RH);
    assert_status(client_receive(c, closes), STATUS_SUCCESS);
    assert_status(client_receive(c, echoes), STATUS_SUCCESS);
    is_told(c, 1, RH, 0, 2);
    client_free(d);
    client_free(c);
}

/* ---- breaks that are reported out of order ---- */

static void asked(struct client *c, uint8_t key, const struct break_notification *news)
{
    struct guid lease_key = key_of(key);
    struct smb_caching *caching = caching_find(client_machine(c), &lease_key);

    caching->listener.on_break(&caching->listener, news, true);
}

/* Rule: two breaks that are sent as one require an acknowledgement if the newer one does, and leave the caching that both
 * leave. */
static void two_breaks_at_once(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f;

    opens_with(c, 1, RH, 0, RH, 1, &f);
    for (unsigned i = 0; i < 2; i++) {
        const struct break_notification first = { .holds = CACHING_READ,
                                                  .epoch = 2,
                                                  .at = INSTANT_MAX - 2 };
        const struct break_notification second = {
            .holds = RH, .to = CACHING_READ, .epoch = 4, .at = INSTANT_MAX - 1
        };

        asked(c, 1, i ? &second : &first);
        asked(c, 1, i ? &first : &second);
        is_told(c, 1, RH, 0, 4);
        assert_true(client_has_none(c));
    }
    client_free(c);
}

/* Rule: a break that is reported after a newer one does not end the wait for the acknowledgement of the newer one. */
static void an_overtaken_break(void **state)
{
    const struct break_notification first = { .holds = CACHING_READ,
                                              .epoch = 2,
                                              .at = INSTANT_MAX - 2 };
    const struct break_notification second = { .holds = RH, .epoch = 4, .at = INSTANT_MAX - 1 };
    struct client *c = client_begin(*state, SMB_311);
    struct guid lease_key = key_of(1);
    struct open_file f;

    opens_with(c, 1, RH, 0, RH, 1, &f);
    asked(c, 1, &second);
    is_told(c, 1, RH, 0, 4);
    asked(c, 1, &first);
    is_told(c, 1, CACHING_READ, 0, 2);
    assert_true(caching_find(client_machine(c), &lease_key)->is_breaking);
    client_free(c);
}

/* ---- by whom a client is told: decision 626 ---- */

/* Another client's open of "leased" breaks what it is leased with. It is answered once that is acknowledged. */
struct breaking {
    struct client *by;
    uint64_t waits;
};

static struct breaking breaks(struct world *world)
{
    const struct creating opens = { .level = 0 };
    struct breaking breaking = { .by = client_begin(world, SMB_311) };

    breaking.waits = send_create(breaking.by, &opens);
    assert_status(client_next(breaking.by), STATUS_PENDING);
    return breaking;
}

static void goes_on(const struct breaking *breaking)
{
    assert_status(client_receive(breaking->by, breaking->waits), STATUS_SUCCESS);
    client_free(breaking->by);
}

/* Rule: the client's oldest session is told, though it has no open of the lease, and may acknowledge. */
static void the_oldest_session_is_told(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    struct breaking breaking;
    struct open_file f;

    opens_with(d, 1, RWH, 0, RWH, 1, &f);
    breaking = breaks(*state);
    assert_true(client_has_none(d)); /* c is told by it */
    is_told(c, 1, RWH, RH, 2);
    acknowledges(c, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_free(d);
    client_free(c);
}

/* Rule: not by a session of another account, whatever GUID its client says it has, nor one of another dialect. */
static void others_are_not_told(void **state)
{
    struct client *two = client_new(*state), *older = client_begin(*state, SMB_302), *d;
    struct breaking breaking;
    struct open_file f;

    client_speak(two, SMB_311);
    assert_int_equal(client_log_on(two, "two", TEST_KEY_1), 0);
    d = client_begin(*state, SMB_311);
    opens_with(d, 1, RWH, 0, RWH, 1, &f);
    breaking = breaks(*state);
    is_told(d, 1, RWH, RH, 2);
    assert_true(client_has_none(two) && client_has_none(older));
    acknowledges(d, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_free(d);
    client_free(older);
    client_free(two);
}

/* Rule: what is told sealed by the session that has the lease is told plainly by no other. */
static void a_sealed_break_stays_sealed(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    struct breaking breaking;
    struct open_file f;

    client_seal(d, true);
    opens_with(d, 1, RWH, 0, RWH, 1, &f);
    breaking = breaks(*state);
    assert_true(client_has_none(d) && client_has_none(c));
    is_told(d, 1, RWH, RH, 2);
    acknowledges(d, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_free(d);
    client_free(c);
}

/* Stops reading, until the connection has too many unsent bytes. */
static void fill(struct client *c)
{
    struct open_file large;
    struct bytes bytes;

    client_charge(c, 1, 64);
    client_open(c, "large", &large);
    assert_int_equal(client_write(c, &large, SMB_IO_MAX - 1, "x"), 0);
    client_charge(c, SMB_IO_MAX / 65536, SMB_IO_MAX / 65536);
    client_stall(c, true);
    while (client_has_room(c))
        assert_int_equal(client_read(c, &large, 0, SMB_IO_MAX, &bytes), 0);
}

/* Rule: a connection that has ended meanwhile, or whose client reads nothing, leaves it to the next one. */
static void who_cannot_be_told_is_passed_over(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    struct client *e = client_begin(*state, SMB_311);
    struct breaking breaking;
    struct open_file f;

    fill(d);
    opens_with(e, 1, RWH, 0, RWH, 1, &f);
    breaking = breaks(*state);
    assert_true(client_has_none(e)); /* it has passed it to c, */
    client_cut(c);                   /* who has it when it ends, */
    assert_true(client_has_none(d)); /* and d, where too much lies unsent */
    is_told(e, 1, RWH, RH, 2);
    acknowledges(e, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_stall(d, false);
    client_free(e);
    client_free(d);
    client_free(c);
}

/* Rule: a client with one session is notified even if it does not read. */
static void who_reads_late_is_told(void **state)
{
    struct client *c = client_begin(*state, SMB_302);
    struct client *d = client_begin(*state, SMB_311);
    struct breaking breaking;
    struct open_file f;

    fill(c);
    opens_with(c, 1, RWH, 0, RWH, 1, &f);
    breaking = breaks(*state);
    is_told(c, 1, RWH, RH, 2);
    client_stall(c, false);
    acknowledges(c, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_free(d);
    client_free(c);
}

/* Rule: a connection that ends before it has sent a break leaves that to another one with the lease. */
static void a_connection_ends_before_the_break(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    struct breaking breaking;
    struct open_file f;

    for (unsigned i = 0; i < SMB_CLOSED_AT_ONCE; i++)
        client_open(c, "closed before", &f);
    opens_with(c, 1, RWH, 0, RWH, 1, &f);
    opens_with(d, 1, RWH, 1, RWH, 1, &f);
    client_cut(c); /* the handle of the lease is still open in the file's record */
    breaking = breaks(*state);
    client_free(c);
    is_told(d, 1, RWH, RH, 2);
    assert_true(client_has_none(d));
    acknowledges(d, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_free(d);
}

/* Rule: many who cannot keep nobody from being told: the session that has the lease is asked soon. */
static void not_all_are_asked(void **state)
{
    struct client *many[CLIENT_REFUSALS_MAX + 2], *d, *newer;
    const size_t count = sizeof many / sizeof *many;
    struct breaking breaking;
    struct open_file f;

    for (size_t i = 0; i < count; i++)
        many[i] = client_begin(*state, SMB_311);
    d = client_begin(*state, SMB_311);
    newer = client_begin(*state, SMB_311);
    client_seal(many[CLIENT_REFUSALS_MAX], true); /* it could, but is not asked */
    assert_int_equal(client_mount(many[CLIENT_REFUSALS_MAX], "share"), 0);
    client_seal(d, true);
    opens_with(d, 1, RWH, 0, RWH, 1, &f);
    breaking = breaks(*state);
    assert_true(client_has_none(d));
    for (size_t i = 0; i < count; i++)
        assert_true(client_has_none(many[i]));
    is_told(d, 1, RWH, RH, 2);
    acknowledges(d, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_free(newer);
    client_free(d);
    for (size_t i = 0; i < count; i++)
        client_free(many[i]);
}

/* Rule: a session whose first connection has ended is told by another of its own. */
static void by_a_channel(void **state)
{
    struct client *home = client_begin(*state, SMB_311), *channel = client_new(*state);
    struct client *d = client_begin(*state, SMB_311);
    struct breaking breaking;
    struct open_file f;

    client_speak(channel, SMB_311);
    client_charge(channel, 1, 8);
    client_sign(home, true);
    assert_int_equal(client_mount(home, "share"), 0);
    assert_int_equal(client_bind(channel, home, "one", TEST_KEY_1), 0);
    client_cut(home);
    opens_with(d, 1, RWH, 0, RWH, 1, &f);
    breaking = breaks(*state);
    assert_true(client_has_none(d));
    assert_true(client_has_none(home));
    is_told(channel, 1, RWH, RH, 2);
    acknowledges(d, 1, RH, STATUS_SUCCESS);
    goes_on(&breaking);
    client_free(d);
    client_free(channel);
    client_free(home);
}

/* Rule: who has waited for as long as it may is answered, though nothing has changed: a client's break is only answered
 * for it by its own connection, and that is busy. */
static void a_wait_in_vain_ends(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *d = client_begin(*state, SMB_311);
    const struct creating opens = { .level = 0 };
    struct open_file f;
    uint64_t waits;

    assert_true(waiters_start());
    opens_with(c, 1, RWH, 0, RWH, 1, &f);
    waits = send_create(d, &opens);
    assert_status(client_next(d), STATUS_PENDING);
    clock_advance((OPEN_WAIT_MAX_S + 1) * (uint64_t)TICKS_PER_SECOND);
    assert_status(client_receive(d, waits), STATUS_SHARING_VIOLATION);
    client_free(d);
    client_free(c);
    waiters_stop(); /* nobody waits after it: the last of these tests */
}

/* Sends a CREATE of the file number i. */
static uint64_t send_numbered(struct client *c, unsigned i, uint8_t level)
{
    const struct creating creating = { .level = level };
    char name[32];
    struct sending s;
    struct wire_writer w;

    snprintf(name, sizeof name, "cached-%u", i);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CREATE, 0);
    put_create(&w, name, &creating);
    return client_send(c, &s);
}

/* The cost of breaks is proportional to their number, whatever else the client caches. */
static void breaks_are_linear(void **state)
{
    enum { CACHED = 300, ASKED = 100, BATCH = 9 };
    struct client *c = client_begin(*state, SMB_302), *d = client_begin(*state, SMB_302);

    for (unsigned i = 0; i < CACHED; i++)
        assert_status(client_receive(c, send_numbered(c, i, BATCH)), STATUS_SUCCESS);
    for (unsigned i = 0; i < ASKED; i++) {
        send_numbered(d, i * CACHED / ASKED, 0);
        assert_status(client_next(d), STATUS_PENDING);
    }
    assert_int_equal(caching_send_breaks(client_machine(c)), ASKED);
    assert_int_equal(caching_send_breaks(client_machine(c)), 0);
    for (unsigned i = 0; i < ASKED; i++)
        assert_int_equal(client_next(c).header.command, SMB_OPLOCK_BREAK);
    client_free(c);
    client_free(d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
#define DURABLE_TEST(name)                                                                         \
    cmocka_unit_test_setup_teardown(name, durable_world_setup, world_teardown)
#define POOLED_TEST(name) cmocka_unit_test_setup_teardown(name, pooled_world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_lease_of_two_connections),
        TEST(one_break_after_the_other),
        TEST(a_lease_of_nothing),
#ifdef LAGRA_GATES
        DURABLE_TEST(a_break_before_the_response),
        DURABLE_TEST(a_break_within_a_compound),
#endif
        POOLED_TEST(a_break_between_two_opens),
        TEST(two_breaks_at_once),
        TEST(an_overtaken_break),
        TEST(the_oldest_session_is_told),
        TEST(others_are_not_told),
        TEST(a_sealed_break_stays_sealed),
        TEST(who_cannot_be_told_is_passed_over),
        TEST(who_reads_late_is_told),
        TEST(a_connection_ends_before_the_break),
        TEST(not_all_are_asked),
        TEST(breaks_are_linear),
        TEST(by_a_channel),
        TEST(a_wait_in_vain_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
