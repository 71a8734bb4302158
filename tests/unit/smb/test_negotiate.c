/* What comes before any session: the choice of dialects, contexts of 3.1.1, clients that begin with SMB1, and what
 * ends the connection. ms-smb2: 3.3.5.2.2, 3.3.5.3, 3.3.5.4 */
#include "client.h"

#include "base/endian.h"

static int setup(void **state)
{
    *state = world_new(false);
    return 0;
}

static int teardown(void **state)
{
    world_free(*state);
    return 0;
}

static uint16_t dialect_of(const struct reply *reply)
{
    struct wire_reader r = reply_body(reply);

    wire_skip(&r, 4);
    return wire_u16(&r);
}

static struct negotiating offering(uint16_t a, uint16_t b)
{
    return (struct negotiating){
        .dialects = { a, b },
        .dialect_count = b ? 2 : 1,
        .security_mode = 1,
        .capabilities = 0x7F,
        .cipher = CIPHER_AES_256_GCM,
        .signing = SIGNING_AES_GMAC,
    };
}

/* The best that both have; 2.0.2 is not spoken here. */
static void chooses_the_best(void **state)
{
    static const struct {
        uint16_t offered[2], chosen;
    } cases[] = {
        { { SMB_210, SMB_311 }, SMB_311 }, { { SMB_302, SMB_300 }, SMB_302 },
        { { SMB_300, 0 }, SMB_300 },       { { SMB_210, 0 }, SMB_210 },
        { { SMB_202, SMB_210 }, SMB_210 }, { { SMB_202, 0 }, 0 },
        { { 0x0312, 0x0200 }, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client *c = client_new(*state);
        struct negotiating n = offering(cases[i].offered[0], cases[i].offered[1]);
        struct reply reply = client_negotiate(c, &n);

        if (cases[i].chosen) {
            assert_status(reply, STATUS_SUCCESS);
            assert_int_equal(dialect_of(&reply), cases[i].chosen);
        } else {
            assert_status(reply, STATUS_NOT_SUPPORTED);
        }
        client_free(c);
    }
}

/* None at all is malformed. */
static void refuses_no_dialects(void **state)
{
    struct client *c = client_new(*state);
    struct negotiating n = { .dialect_count = 0 };
    struct reply reply = client_negotiate(c, &n);

    assert_status(reply, STATUS_INVALID_PARAMETER);
    client_free(c);
}

/* Contexts of an answer of 3.1.1, by type: the first value behind its counts; -1: there is none. */
static int context_of(const struct reply *reply, uint16_t type)
{
    struct wire_reader r = reply_body(reply);
    uint16_t count;
    uint32_t at;

    wire_skip(&r, 6);
    count = wire_u16(&r);
    wire_skip(&r, 52);
    at = wire_u32(&r);
    wire_seek(&r, at, SMB_HEADER_SIZE + 64);
    for (uint16_t i = 0; i < count; i++) {
        uint16_t found, size;
        struct bytes data;

        wire_pass_padding(&r, 8);
        found = wire_u16(&r);
        size = wire_u16(&r);
        wire_skip(&r, 4);
        data = wire_bytes(&r, size);
        assert_true(wire_ok(&r));
        if (found == type)
            return le16_get(data.ptr + (type == 1 ? 4 : 2));
    }
    return -1;
}

/* Each context is answered by one choice; who offers none of the ciphers gets none. */
static void answers_contexts(void **state)
{
    struct client *c = client_new(*state);
    struct negotiating n = offering(SMB_311, 0);
    struct reply reply = client_negotiate(c, &n);

    assert_int_equal(context_of(&reply, 1), 1);
    assert_int_equal(context_of(&reply, 2), CIPHER_AES_256_GCM);
    assert_int_equal(context_of(&reply, 8), SIGNING_AES_GMAC);
    client_free(c);

    c = client_new(*state);
    n.cipher = 77;
    reply = client_negotiate(c, &n);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(context_of(&reply, 2), CIPHER_NONE);
    client_free(c);

    c = client_new(*state);
    n.cipher = 0;
    reply = client_negotiate(c, &n);
    assert_int_equal(context_of(&reply, 2), -1);
    client_free(c);
}

/* 3.1.1 is not spoken without the hash over what was said before. */
static void needs_preauth_integrity(void **state)
{
    struct client *c = client_new(*state);
    struct negotiating n = offering(SMB_311, 0);
    struct reply reply;

    n.no_preauth = true;
    reply = client_negotiate(c, &n);
    assert_status(reply, STATUS_INVALID_PARAMETER);
    client_free(c);
}

/* A connection negotiates once; what needs a dialect does not come before it. */
static void cuts_what_is_out_of_order(void **state)
{
    struct client *c = client_new(*state);
    struct negotiating n = offering(SMB_300, 0);
    struct sending s;
    struct wire_writer w;

    client_negotiate(c, &n);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_NEGOTIATE, 0);
    wire_put_u16(&w, 36);
    wire_put_zeros(&w, 34);
    client_send(c, &s);
    assert_true(client_is_cut(c));
    client_free(c);

    c = client_new(*state);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_ECHO, 0);
    wire_put_u32(&w, 4);
    client_send(c, &s);
    assert_true(client_is_cut(c));
    client_free(c);
}

/* An SMB1 negotiation with these dialect strings, each with its 2 in front and a zero behind. */
static void send_smb1(struct client *c, const char *dialects, size_t size)
{
    struct text text;

    text_init(&text, client_arena(c), 128);
    text_add(&text, bytes_of("\xFFSMB\x72", 5));
    for (unsigned i = 0; i < 27; i++)
        text_add_char(&text, 0);
    text_add_char(&text, 0); /* WordCount */
    text_add_char(&text, (char)size);
    text_add_char(&text, 0);
    text_add(&text, bytes_of(dialects, size));
    client_send_raw(c, text_bytes(&text));
}

/* Who begins with SMB1 and knows "SMB 2.???" goes on with SMB2; who does not is cut. */
static void takes_smb1_to_smb2(void **state)
{
    static const char both[] = "\2NT LM 0.12\0\2SMB 2.002\0\2SMB 2.???";
    static const char old[] = "\2NT LM 0.12\0\2SMB 2.002";
    struct client *c = client_new(*state);
    struct negotiating n = offering(SMB_210, SMB_311);
    struct reply reply;
    struct sending unused;

    send_smb1(c, both, sizeof both);
    reply = client_next(c);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(dialect_of(&reply), 0x02FF);
    assert_int_equal(reply.header.message_id, 0);
    sending_begin(c, &unused);
    sending_add(c, &unused, SMB_ECHO, 0); /* id 0 was used */
    reply = client_negotiate(c, &n);
    assert_status(reply, STATUS_SUCCESS);
    assert_int_equal(dialect_of(&reply), SMB_311);
    client_free(c);

    c = client_new(*state);
    send_smb1(c, old, sizeof old);
    assert_true(client_is_cut(c));
    client_free(c);
}

/* What is no message ends the connection. */
static void cuts_what_is_no_message(void **state)
{
    static const struct bytes wrong[] = {
        BYTES(""),
        BYTES("\xFE"),
        BYTES("\xFESMB"),
        BYTES("\xFDSMB"),
        BYTES("\xFCSMB0000000000000000"),
        BYTES("GET / HTTP/1.1\r\n\r\n"),
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct client *c = client_new(*state);

        client_send_raw(c, wrong[i]);
        assert_true(client_is_cut(c));
        client_free(c);
    }
}

/* A compound whose last part has no room for a header is no message. ms-smb2: 3.3.5.2.7 */
static void cuts_a_part_without_header(void **state)
{
    char frame[SMB_HEADER_SIZE + 8] = "\xFESMB";
    struct client *c = client_new(*state);

    frame[4] = SMB_HEADER_SIZE;
    frame[20] = SMB_HEADER_SIZE; /* NextCommand */
    client_send_raw(c, bytes_of(frame, sizeof frame));
    assert_true(client_is_cut(c));
    client_free(c);
}

/* The next part of a compound begins behind this one's header, on a multiple of 8, and within the message; else all of
 * it is no message, and nothing of it is run. ms-smb2: 3.3.5.2.7 */
static void cuts_parts_that_overlap_or_lie_outside(void **state)
{
    static const uint32_t nexts[] = { 0, /* right: it is one part */
                                      8,
                                      SMB_HEADER_SIZE - 8,
                                      SMB_HEADER_SIZE + 1,
                                      2 * SMB_HEADER_SIZE,
                                      2 * SMB_HEADER_SIZE + 8,
                                      UINT32_MAX - 7 };
    char frame[2 * SMB_HEADER_SIZE] = "\xFESMB";

    frame[4] = SMB_HEADER_SIZE;
    frame[6] = 1; /* CreditCharge */
    frame[12] = SMB_ECHO;
    frame[24] = 1; /* MessageId */
    frame[SMB_HEADER_SIZE] = 4;
    for (size_t i = 0; i < sizeof nexts / sizeof nexts[0]; i++) {
        struct client *c = client_new(*state);

        client_speak(c, SMB_311);
        le32_put(frame + 20, nexts[i]);
        client_send_raw(c, bytes_of(frame, sizeof frame));
        assert_int_equal(client_is_cut(c), nexts[i] > 0);
        client_free(c);
    }
}

/* A context that is longer than the message is malformed, and nothing is read of it. */
static void bounds_contexts(void **state)
{
    struct client *c = client_new(*state);
    struct reply reply;
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_NEGOTIATE, 0);
    wire_put_u16(&w, 36);
    wire_put_u16(&w, 1);
    wire_put_zeros(&w, 24);
    wire_put_u32(&w, SMB_HEADER_SIZE + 40); /* where contexts are */
    wire_put_u16(&w, 1);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, SMB_311);
    wire_put_padding(&w, 8);
    wire_put_u16(&w, 1);
    wire_put_u16(&w, 100);
    wire_put_u32(&w, 0);
    wire_put_u16(&w, 1);
    reply = client_ask(c, &s);
    assert_status(reply, STATUS_INVALID_PARAMETER);
    client_free(c);
}

/* Without a session there is nothing but negotiation, session setup and echo. ms-smb2: 3.3.5.2.9 */
static void needs_a_session(void **state)
{
    struct client *c = client_new(*state);

    client_speak(c, SMB_311);
    client_charge(c, 1, SMB_COMMANDS);
    for (uint16_t command = SMB_LOGOFF; command < SMB_COMMANDS; command++) {
        struct sending s;
        struct wire_writer w;
        struct reply reply;

        if (command == SMB_CANCEL)
            continue;
        sending_begin(c, &s);
        w = sending_add(c, &s, command, 0);
        wire_put_u16(&w, 4);
        wire_put_zeros(&w, 62);
        reply = client_ask(c, &s);
        if (command == SMB_ECHO)
            assert_status(reply, STATUS_SUCCESS);
        else
            assert_status(reply, STATUS_USER_SESSION_DELETED);
    }
    client_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_the_best),
        cmocka_unit_test(refuses_no_dialects),
        cmocka_unit_test(answers_contexts),
        cmocka_unit_test(needs_preauth_integrity),
        cmocka_unit_test(cuts_what_is_out_of_order),
        cmocka_unit_test(takes_smb1_to_smb2),
        cmocka_unit_test(cuts_what_is_no_message),
        cmocka_unit_test(bounds_contexts),
        cmocka_unit_test(needs_a_session),
        cmocka_unit_test(cuts_a_part_without_header),
        cmocka_unit_test(cuts_parts_that_overlap_or_lie_outside),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
