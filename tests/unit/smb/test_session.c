/* Sessions and trees: who gets in, what has to be signed or sealed, whose shares are seen, and what ends with what.
 * ms-smb2: 3.3.5.2, 3.3.5.5 to 3.3.5.8 */
#include "client.h"

#include "base/endian.h"
#include "service/waiting.h"
#include "smb_protocol/limits.h"
#include "auth/logons.h"

static int setup_sealed(void **state)
{
    *state = world_new(false);
    return 0;
}

static const enum smb_dialect dialects[] = { SMB_210, SMB_300, SMB_302, SMB_311 };
#define DIALECTS (sizeof dialects / sizeof *dialects)

/* A command whose body is `StructureSize` and zeros. */
static struct reply ask(struct client *c, uint16_t command, uint16_t structure_size)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, command, 0);
    wire_put_u16(&w, structure_size);
    wire_put_zeros(&w, (structure_size & ~1u) - 2);
    return client_ask(c, &s);
}

static struct client *log_on(struct world *world, enum smb_dialect dialect)
{
    struct client *c = client_new(world);

    client_speak(c, dialect);
    assert_int_equal(client_log_on(c, "one", TEST_KEY_1), 0);
    return c;
}

/* Either key of an account opens a session, in every dialect; who has neither gets one and the same answer, whether
 * there is the account or not. semantics 10.3; decision: 35 */
static void either_key_opens(void **state)
{
    for (size_t i = 0; i < DIALECTS; i++) {
        struct client *c = client_new(*state);

        client_speak(c, dialects[i]);
        assert_int_equal(client_log_on(c, "one", TEST_KEY_1), 0);
        client_free(c);
        c = client_new(*state);
        client_speak(c, dialects[i]);
        assert_int_equal(client_log_on(c, "one", TEST_KEY_2), 0);
        client_free(c);
        c = client_new(*state);
        client_speak(c, dialects[i]);
        assert_int_equal(client_log_on(c, "one", "bm8="), nt_status_value(STATUS_LOGON_FAILURE));
        client_use_session(c, 0);
        assert_int_equal(client_log_on(c, "nobody", TEST_KEY_1),
                         nt_status_value(STATUS_LOGON_FAILURE));
        client_free(c);
    }
}

/* A session of an account that is disabled ends at its next command; who logs on to one is told so once he has
 * proved his key. decision: 380 */
static void ends_with_its_account(void **state)
{
    struct world *world = *state;
    struct stored_account account = {
        .name = BYTES("three"), .keys = { BYTES(TEST_KEY_1) }, .key_count = 1, .version = 1
    };
    struct client *c = client_new(world);

    assert_int_equal(accounts_put_stored(world->accounts, &account), ACCOUNT_PUT);
    client_speak(c, SMB_311);
    assert_int_equal(client_log_on(c, "three", TEST_KEY_1), 0);
    assert_int_equal(ask(c, SMB_ECHO, 4).header.status, 0);
    account.disabled = true;
    account.version++;
    assert_int_equal(accounts_put_stored(world->accounts, &account), ACCOUNT_PUT);
    assert_int_equal(ask(c, SMB_LOGOFF, 4).header.status,
                     nt_status_value(STATUS_USER_SESSION_DELETED));
    client_use_session(c, 0);
    assert_int_equal(client_log_on(c, "three", "bm8="), nt_status_value(STATUS_LOGON_FAILURE));
    client_use_session(c, 0);
    assert_int_equal(client_log_on(c, "three", TEST_KEY_1),
                     nt_status_value(STATUS_ACCOUNT_DISABLED));
    account.disabled = false;
    account.version++;
    assert_int_equal(accounts_put_stored(world->accounts, &account), ACCOUNT_PUT);
    client_use_session(c, 0);
    assert_int_equal(client_log_on(c, "three", TEST_KEY_1), 0);
    client_free(c);
}

#define STEP (600 * TICKS_PER_SECOND)

/* Where too many logons have failed no more are looked at for a while, right ones neither; other addresses are
 * not concerned. logons.h */
static void failures_are_counted_by_address(void **state)
{
    struct client *bad = client_new(*state), *good = client_new(*state),
                  *other = client_new(*state);

    client_address(bad, 1 << 20);
    client_address(good, 1 << 20);
    client_speak(bad, SMB_311);
    client_speak(good, SMB_311);
    client_speak(other, SMB_311);
    for (unsigned i = 0; i < LOGONS_FAILED_MAX; i++) {
        assert_int_equal(client_log_on(bad, "one", "bm8="), nt_status_value(STATUS_LOGON_FAILURE));
        client_use_session(bad, 0);
        clock_step_wall(-(int64_t)STEP); /* so that nothing is forgotten, however long this takes */
    }
    assert_int_equal(client_log_on(bad, "one", TEST_KEY_1),
                     nt_status_value(STATUS_ACCOUNT_LOCKED_OUT));
    clock_step_wall(-(int64_t)STEP);
    assert_int_equal(client_log_on(good, "one", TEST_KEY_1),
                     nt_status_value(STATUS_ACCOUNT_LOCKED_OUT));
    assert_int_equal(client_log_on(other, "one", TEST_KEY_1), 0);
    clock_step_wall((LOGONS_FAILED_MAX + 2) * (int64_t)STEP);
    client_use_session(good, 0);
    assert_int_equal(client_log_on(good, "one", TEST_KEY_1), 0); /* all that is long ago now */
    client_free(bad);
    client_free(good);
    client_free(other);
}

/* Where a logon is given time it waits its turn, a second here, and is looked at then. decision: 359 */
static void a_logon_waits_its_turn(void **state)
{
    const struct smb_options options = { .logon_patience_s = 60 };
    struct world *world = world_new_with(&options);
    struct client *c = client_new(world);

    (void)state;
    client_speak(c, SMB_311);
    for (unsigned i = 0; i < LOGONS_FAILED_MAX; i++) {
        assert_int_equal(client_log_on(c, "one", "bm8="), nt_status_value(STATUS_LOGON_FAILURE));
        client_use_session(c, 0);
        clock_step_wall(-(int64_t)STEP); /* the first look finds that nothing is forgotten yet */
    }
    assert_int_equal(client_log_on(c, "one", TEST_KEY_1), 0);
    clock_step_wall(LOGONS_FAILED_MAX * (int64_t)STEP);
    client_free(c);
    world_free(world);
}

/* A dialect that cannot seal is refused unless the operator allows it. */
static void needs_sealing(void **state)
{
    struct client *c = client_new(*state);

    client_speak(c, SMB_210);
    assert_int_equal(client_log_on(c, "one", TEST_KEY_1), nt_status_value(STATUS_ACCESS_DENIED));
    client_free(c);
}

/* Then nothing is done for what comes unsealed. ms-smb2: 3.3.5.2.9 */
static void refuses_what_is_not_sealed(void **state)
{
    for (size_t i = 1; i < DIALECTS; i++) {
        struct client *c = log_on(*state, dialects[i]);
        struct reply reply;

        assert_int_equal(client_mount(c, "share"), nt_status_value(STATUS_ACCESS_DENIED));
        client_sign(c, true);
        assert_int_equal(client_mount(c, "share"), nt_status_value(STATUS_ACCESS_DENIED));
        client_sign(c, false);
        client_seal(c, true);
        assert_int_equal(client_mount(c, "share"), 0);
        reply = ask(c, SMB_ECHO, 4);
        assert_status(reply, STATUS_SUCCESS);
        assert_true(reply.was_sealed);
        assert_false(reply.header.flags & SMB_FLAG_SIGNED);
        client_free(c);
    }
}

/* A sealed frame is opened with the key of the session that it names, and is of that session.
 * ms-smb2: 3.3.5.2.1.1 */
static void seals_for_one_session(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    uint64_t id = client_session(c);

    client_seal(c, true);
    client_use_session(c, id ^ 1);
    (void)id;
    {
        struct sending s;
        struct wire_writer w;

        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_ECHO, 0);
        wire_put_u32(&w, 4);
        client_send(c, &s);
    }
    assert_true(client_is_cut(c));
    client_free(c);
}

/* What is signed is verified, and its answer signed; a wrong signature is refused. ms-smb2: 3.3.5.2.4 */
static void signs(void **state)
{
    for (size_t i = 0; i < DIALECTS; i++) {
        struct client *c = log_on(*state, dialects[i]);
        struct reply reply;
        struct sending s;
        struct wire_writer w;

        reply = ask(c, SMB_ECHO, 4);
        assert_status(reply, STATUS_SUCCESS);
        assert_false(reply.header.flags & SMB_FLAG_SIGNED);
        client_sign(c, true);
        reply = ask(c, SMB_ECHO, 4);
        assert_status(reply, STATUS_SUCCESS);
        assert_true(reply.is_signed_rightly);
        client_sign(c, false);
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_ECHO, SMB_FLAG_SIGNED);
        wire_put_u32(&w, 4);
        reply = client_ask(c, &s);
        assert_status(reply, STATUS_ACCESS_DENIED);
        client_free(c);
    }
}

/* A TREE_CONNECT of 3.1.1 that is neither signed nor sealed ends the connection. ms-smb2: 3.3.5.7 */
static void trees_need_a_signature_in_311(void **state)
{
    for (size_t i = 0; i < DIALECTS; i++) {
        struct client *c = log_on(*state, dialects[i]);
        struct sending s;
        struct wire_writer w;

        assert_int_equal(client_mount(c, "share"), 0);
        if (dialects[i] == SMB_311) {
            client_seal(c, true);
            assert_int_equal(client_mount(c, "share"), 0);
            client_seal(c, false);
        }
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_TREE_CONNECT, 0);
        put_tree_connect(c, &w, "share");
        client_send(c, &s);
        assert_int_equal(client_is_cut(c), dialects[i] == SMB_311);
        client_free(c);
    }
}

/* An account sees its own shares, by names in letters of either case; those of others, and malformed names, are
 * as none. IPC$ connects. README invariant 5 */
static void sees_its_own_shares(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    static const char *const none[] = {
        "mine", "none", "", "a", "share\\more", "\xC3\xA9t\xC3\xA9"
    };

    world_add_share(*state, "two", "mine");
    assert_int_equal(client_mount(c, "share"), 0);
    assert_int_equal(client_mount(c, "SHARE"), 0);
    assert_int_equal(client_mount(c, "IPC$"), 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(client_mount(c, none[i]), nt_status_value(STATUS_BAD_NETWORK_NAME));
    client_free(c);
}

/* A tree that is disconnected is gone, and so are a session's with it. */
static void ends_trees_and_sessions(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    struct reply reply;

    assert_int_equal(client_mount(c, "share"), 0);
    reply = ask(c, SMB_TREE_DISCONNECT, 4);
    assert_status(reply, STATUS_SUCCESS);
    reply = ask(c, SMB_TREE_DISCONNECT, 4);
    assert_status(reply, STATUS_NETWORK_NAME_DELETED);
    reply = ask(c, SMB_LOGOFF, 4);
    assert_status(reply, STATUS_SUCCESS);
    reply = ask(c, SMB_LOGOFF, 4);
    assert_status(reply, STATUS_USER_SESSION_DELETED);
    client_free(c);
}

/* A session is one connection's: another one does not find it. */
static void is_of_one_connection(void **state)
{
    struct client *c = log_on(*state, SMB_311), *other = log_on(*state, SMB_311);
    struct reply reply;

    client_use_session(other, client_session(c));
    reply = ask(other, SMB_LOGOFF, 4);
    assert_status(reply, STATUS_USER_SESSION_DELETED);
    client_free(other);
    assert_int_equal(client_mount(c, "share"), 0);
    client_free(c);
}

/* Who logs on again stays who he was. ms-smb2: 3.3.5.5.2 */
static void logs_on_again(void **state)
{
    struct client *c = log_on(*state, SMB_311);

    assert_int_equal(client_log_on(c, "one", TEST_KEY_2), 0);
    assert_int_equal(client_mount(c, "share"), 0);
    assert_int_equal(client_log_on(c, "two", TEST_KEY_1), nt_status_value(STATUS_ACCESS_DENIED));
    assert_int_equal(client_mount(c, "share"), nt_status_value(STATUS_USER_SESSION_DELETED));
    client_free(c);
}

/* Who comes again ends the session that he had before; of another account it stays. ms-smb2: 3.3.5.5.3 */
static void ends_the_previous(void **state)
{
    struct client *c = log_on(*state, SMB_311), *again = client_new(*state);
    uint64_t id = client_session(c);

    client_speak(again, SMB_311);
    client_previous(again, id);
    assert_int_equal(client_log_on(again, "two", TEST_KEY_1), 0);
    assert_int_equal(client_mount(c, "share"), 0);
    client_use_session(again, 0);
    client_waits_with(again, c);
    assert_int_equal(client_log_on(again, "one", TEST_KEY_1), 0);
    client_waits_with(again, NULL);
    assert_true(client_has_none(c));
    assert_int_equal(client_mount(c, "share"), nt_status_value(STATUS_USER_SESSION_DELETED));
    client_free(again);
    client_free(c);
}

/* Sessions of a connection, and trees of a session, have a bound each. README invariant 6 */
static void bounds_sessions_and_trees(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    uint64_t id = client_session(c);

    client_charge(c, 1, 2);
    for (unsigned i = 1; i < SMB_SESSIONS_MAX; i++) {
        client_use_session(c, 0);
        assert_int_equal(client_log_on(c, "one", TEST_KEY_1), 0);
    }
    client_use_session(c, 0);
    assert_int_equal(client_log_on(c, "one", TEST_KEY_1),
                     nt_status_value(STATUS_INSUFFICIENT_RESOURCES));
    client_use_session(c, id);
    for (unsigned i = 0; i < SMB_TREES_MAX; i++)
        assert_int_equal(client_mount(c, "IPC$"), 0);
    assert_int_equal(client_mount(c, "IPC$"), nt_status_value(STATUS_INSUFFICIENT_RESOURCES));
    client_free(c);
}

/* Nobody can make the server keep many half log-ons before the first is whole. README invariant 6 */
static void bounds_sessions_of_strangers(void **state)
{
    struct client *c = client_new(*state);
    uint64_t id = 0;

    client_speak(c, SMB_311);
    client_charge(c, 1, 2);
    for (unsigned i = 0; i < SMB_SESSIONS_AT_FIRST; i++)
        assert_int_equal(client_begin_log_on(c), nt_status_value(STATUS_MORE_PROCESSING_REQUIRED));
    assert_int_equal(client_begin_log_on(c), nt_status_value(STATUS_INSUFFICIENT_RESOURCES));
    client_free(c);

    c = log_on(*state, SMB_311);
    id = client_session(c);
    client_charge(c, 1, 2);
    for (unsigned i = 1; i < SMB_SESSIONS_MAX; i++)
        assert_int_equal(client_begin_log_on(c), nt_status_value(STATUS_MORE_PROCESSING_REQUIRED));
    assert_int_equal(client_begin_log_on(c), nt_status_value(STATUS_INSUFFICIENT_RESOURCES));
    client_use_session(c, id);
    client_free(c);
}

/* Every message costs an id of the window, and gets as many back as it asks for. */
static void grants_credits(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    struct reply reply;

    client_charge(c, 1, 100);
    reply = ask(c, SMB_ECHO, 4);
    assert_int_equal(reply.header.credits, 100);
    client_charge(c, 1, 0);
    reply = ask(c, SMB_ECHO, 4);
    assert_int_equal(reply.header.credits, 1);
    client_charge(c, 50, 0);
    reply = ask(c, SMB_ECHO, 4);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(reply.header.credit_charge, 50);
    client_charge(c, 60, 0); /* it has 52 - 1 left */
    {
        struct sending s;
        struct wire_writer w;

        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_ECHO, 0);
        wire_put_u32(&w, 4);
        client_send(c, &s);
    }
    assert_true(client_is_cut(c));
    client_free(c);
}

/* A body that is short, or of another size than the command's, is malformed. ms-smb2: 3.3.5.2.6 */
static void checks_sizes(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    struct sending s;
    struct wire_writer w;
    struct reply reply;

    reply = ask(c, SMB_ECHO, 6);
    assert_status(reply, STATUS_INVALID_PARAMETER);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_TREE_CONNECT, 0);
    wire_put_u16(&w, 9);
    reply = client_ask(c, &s);
    assert_status(reply, STATUS_INVALID_PARAMETER);
    reply = ask(c, SMB_COMMANDS, 4);
    assert_status(reply, STATUS_INVALID_PARAMETER);
    client_free(c);
}

/* Related requests go on with the session and tree of the one before, and fail with it; unrelated ones do not. The
 * answers are one frame. ms-smb2: 3.3.5.2.7 */
static void compounds(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    struct sending s;
    struct wire_writer w;
    struct reply first, second, third;
    uint64_t last;

    assert_int_equal(client_mount(c, "share"), 0);
    client_charge(c, 1, 4);
    ask(c, SMB_ECHO, 4);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_ECHO, 0);
    wire_put_u32(&w, 4);
    w = sending_add(c, &s, SMB_TREE_DISCONNECT, SMB_FLAG_RELATED);
    wire_put_u32(&w, 4);
    w = sending_add(c, &s, SMB_TREE_DISCONNECT, SMB_FLAG_RELATED);
    wire_put_u32(&w, 4);
    last = client_send(c, &s);
    first = client_receive(c, last - 2);
    second = client_receive(c, last - 1);
    third = client_receive(c, last);
    assert_status(first, STATUS_SUCCESS);
    assert_status(second, STATUS_SUCCESS);
    assert_status(third, STATUS_NETWORK_NAME_DELETED);
    assert_false(first.ends_frame || second.ends_frame);
    assert_true(third.ends_frame);
    assert_int_equal(second.header.flags & SMB_FLAG_RELATED, SMB_FLAG_RELATED);
    client_free(c);
}

/* What fails with the request before it is refused before its session is looked at; its response is signed all the same.
 * ms-smb2: 3.3.4.1.1 */
static void failures_of_compounds_are_signed(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    struct sending s;
    struct wire_writer w;
    struct reply second;
    uint64_t last;

    client_charge(c, 1, 4);
    ask(c, SMB_ECHO, 4);
    client_sign(c, true);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_ECHO, 0);
    wire_put_u32(&w, 6);
    w = sending_add(c, &s, SMB_ECHO, SMB_FLAG_RELATED);
    wire_put_u32(&w, 4);
    last = client_send(c, &s);
    assert_status(client_receive(c, last - 1), STATUS_INVALID_PARAMETER);
    second = client_receive(c, last);
    assert_status(second, STATUS_INVALID_PARAMETER);
    assert_true(second.is_signed_rightly);
    client_free(c);
}

/* Nothing comes before the first of a compound that it could be related to. ms-smb2: 3.3.5.2.7.2 */
static void first_is_not_related(void **state)
{
    struct client *c = log_on(*state, SMB_311);
    struct sending s;
    struct wire_writer w;
    struct reply reply;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_ECHO, SMB_FLAG_RELATED);
    wire_put_u32(&w, 4);
    reply = client_ask(c, &s);
    assert_status(reply, STATUS_INVALID_PARAMETER);
    client_free(c);
}

/* Session setups go alone. */
static void setup_goes_alone(void **state)
{
    struct client *c = client_new(*state);
    struct sending s;
    struct wire_writer w;
    uint64_t last;

    client_speak(c, SMB_311);
    client_charge(c, 1, 3);
    ask(c, SMB_ECHO, 4);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_SESSION_SETUP, 0);
    wire_put_u16(&w, 25);
    wire_put_zeros(&w, 22);
    w = sending_add(c, &s, SMB_ECHO, 0);
    wire_put_u32(&w, 4);
    last = client_send(c, &s);
    assert_status(client_receive(c, last - 1), STATUS_INVALID_PARAMETER);
    assert_status(client_receive(c, last), STATUS_SUCCESS);
    client_free(c);
}

/* A compound's whole length is sealed, and its parts signed with their padding. */
static void seals_compounds(void **state)
{
    struct client *c = log_on(*state, SMB_311);

    client_charge(c, 1, 4);
    ask(c, SMB_ECHO, 4);
    for (int sealed = 0; sealed < 2; sealed++) {
        struct sending s;
        struct wire_writer w;
        uint64_t last;
        struct reply reply;

        client_seal(c, sealed);
        client_sign(c, !sealed);
        sending_begin(c, &s);
        for (unsigned i = 0; i < 3; i++) {
            w = sending_add(c, &s, SMB_ECHO, 0);
            wire_put_u32(&w, 4);
        }
        last = client_send(c, &s);
        for (unsigned i = 0; i < 3; i++) {
            reply = client_receive(c, last - 2 + i);
            assert_status(reply, STATUS_SUCCESS);
            assert_int_equal(reply.was_sealed, sealed);
            assert_int_equal(reply.is_signed_rightly, !sealed);
        }
    }
    client_free(c);
}

/* What was negotiated is asked for again, in a message that is signed: another answer, or another question, ends the
 * connection. ms-smb2: 3.3.5.15.12 */
static void validates_the_negotiation(void **state)
{
    static const struct {
        uint32_t capabilities;
        uint16_t mode, dialect;
        bool is_right;
    } cases[] = {
        { 0x7F, 1, SMB_302, true },
        { 0x7E, 1, SMB_302, false },
        { 0x7F, 3, SMB_302, false },
        { 0x7F, 1, SMB_300, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client *c = log_on(*state, SMB_302);
        struct guid guid = { { 1, 2, 3 } };
        struct sending s;
        struct wire_writer w;
        struct reply reply;
        uint64_t id;

        assert_int_equal(client_mount(c, "IPC$"), 0);
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_IOCTL, 0);
        wire_put_u32(&w, 57);
        wire_put_u32(&w, 0x00140204);
        wire_put_u64(&w, UINT64_MAX);
        wire_put_u64(&w, UINT64_MAX);
        wire_put_u32(&w, SMB_HEADER_SIZE + 56);
        wire_put_u32(&w, 26);
        wire_put_zeros(&w, 12);
        wire_put_u32(&w, 24);
        wire_put_u32(&w, 1);
        wire_put_u32(&w, 0);
        wire_put_u32(&w, cases[i].capabilities);
        wire_put_guid(&w, &guid);
        wire_put_u16(&w, cases[i].mode);
        wire_put_u16(&w, 1);
        wire_put_u16(&w, cases[i].dialect);
        id = client_send(c, &s);
        assert_int_equal(client_is_cut(c), !cases[i].is_right);
        if (cases[i].is_right) {
            reply = client_receive(c, id);
            assert_status(reply, STATUS_SUCCESS);
            assert_int_equal(le16_get(reply.bytes.ptr + SMB_HEADER_SIZE + 48 + 22), SMB_302);
        }
        client_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest sealed[] = {
        cmocka_unit_test(needs_sealing),
        cmocka_unit_test(a_logon_waits_its_turn),
        cmocka_unit_test(refuses_what_is_not_sealed),
        cmocka_unit_test(seals_for_one_session),
    };
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(either_key_opens),
        cmocka_unit_test(ends_with_its_account),
        cmocka_unit_test(failures_are_counted_by_address),
        cmocka_unit_test(signs),
        cmocka_unit_test(trees_need_a_signature_in_311),
        cmocka_unit_test(sees_its_own_shares),
        cmocka_unit_test(ends_trees_and_sessions),
        cmocka_unit_test(is_of_one_connection),
        cmocka_unit_test(logs_on_again),
        cmocka_unit_test(ends_the_previous),
        cmocka_unit_test(bounds_sessions_and_trees),
        cmocka_unit_test(bounds_sessions_of_strangers),
        cmocka_unit_test(grants_credits),
        cmocka_unit_test(checks_sizes),
        cmocka_unit_test(compounds),
        cmocka_unit_test(failures_of_compounds_are_signed),
        cmocka_unit_test(first_is_not_related),
        cmocka_unit_test(setup_goes_alone),
        cmocka_unit_test(seals_compounds),
        cmocka_unit_test(validates_the_negotiation),
    };

    int failed;

    if (!waiters_start())
        return 1;
    failed = cmocka_run_group_tests(sealed, setup_sealed, world_teardown) +
             cmocka_run_group_tests(plain, world_setup, world_teardown);
    waiters_stop();
    return failed;
}
