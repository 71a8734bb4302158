/* SPNEGO as a server: which method is agreed upon, how its tokens are wrapped, and who signs the
 * list of methods. rfc: 4178 4, 5 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hex.h"
#include "../smb/initiator.h"
#include "smb_protocol/der.h"
#include "smb_protocol/spnego.h"

#define KEY  "a2V5IG9uZSBvZiB0aGUgYWNjb3VudA=="
#define NOW  (INSTANT_UNIX_EPOCH + 1600000000 * TICKS_PER_SECOND)
#define NTLM "060A2B06010401823702020A"
#define KRB5 "06092A864886F712010202"

struct fixture {
    struct arena *arena;
    struct accounts *accounts;
    struct spnego *spnego;
    struct initiator client;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    const char *problem;

    f->arena = arena_new(1 << 20);
    f->accounts = accounts_new();
    f->client = (struct initiator){ .user = "acct", .domain = "AZURE", .password = KEY };
    *state = f;
    if (!accounts_add_list(f->accounts, "acct:" KEY, &problem))
        return -1;
    f->spnego = spnego_new(f->accounts, NULL);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    spnego_free(f->spnego);
    spnego_free(NULL);
    accounts_free(f->accounts);
    arena_free(f->arena);
    free(f);
    return 0;
}

static struct bytes put_one(struct arena *arena, uint8_t tag, struct bytes part)
{
    return der_put(arena, tag, &part, 1);
}

/* NegTokenInit with a list of methods, in hexadecimal. token: ptr NULL, none. */
static struct bytes init_token(struct arena *arena, const char *methods, struct bytes token)
{
    struct bytes parts[2], body[2];
    size_t count = 0;

    parts[count++] =
        put_one(arena, DER_CONTEXT(0), put_one(arena, DER_SEQUENCE, unhex(arena, methods)));
    if (token.ptr)
        parts[count++] = put_one(arena, DER_CONTEXT(2), put_one(arena, DER_OCTET_STRING, token));
    body[0] = unhex(arena, "06062B0601050502");
    body[1] = put_one(arena, DER_CONTEXT(0), der_put(arena, DER_SEQUENCE, parts, count));
    return der_put(arena, DER_APPLICATION, body, 2);
}

/* NegTokenResp of the client. mic: ptr NULL, none. */
static struct bytes response_token(struct arena *arena, struct bytes token, struct bytes mic)
{
    struct bytes parts[2];
    size_t count = 0;

    parts[count++] = put_one(arena, DER_CONTEXT(2), put_one(arena, DER_OCTET_STRING, token));
    if (mic.ptr)
        parts[count++] = put_one(arena, DER_CONTEXT(3), put_one(arena, DER_OCTET_STRING, mic));
    return put_one(arena, DER_CONTEXT(1), der_put(arena, DER_SEQUENCE, parts, count));
}

/* What the server's NegTokenResp has. */
struct answer {
    int state;
    struct bytes method, token, mic;
};

static struct bytes optional(struct der *fields, uint8_t n, uint8_t tag)
{
    struct der inner;

    if (!der_next_is(fields, (uint8_t)DER_CONTEXT(n)))
        return (struct bytes){ 0 };
    inner = der_enter(fields, (uint8_t)DER_CONTEXT(n));
    return der_take(&inner, tag, NULL);
}

static struct answer read_answer(struct bytes token)
{
    struct der whole = der_of(token), choice = der_enter(&whole, DER_CONTEXT(1)),
               fields = der_enter(&choice, DER_SEQUENCE);
    struct bytes state = optional(&fields, 0, DER_ENUMERATED);
    struct answer answer = { .state = state.len == 1 ? state.ptr[0] : -1 };

    answer.method = optional(&fields, 1, DER_OID);
    answer.token = optional(&fields, 2, DER_OCTET_STRING);
    answer.mic = optional(&fields, 3, DER_OCTET_STRING);
    assert_false(fields.bad);
    assert_int_equal(fields.rest.len, 0);
    assert_int_equal(choice.rest.len, 0);
    assert_int_equal(whole.rest.len, 0);
    return answer;
}

static enum spnego_step step(struct fixture *f, struct bytes token, struct bytes *ret_token)
{
    return spnego_step(f->spnego, f->arena, token, NOW, ret_token);
}

static const struct bytes none;

/* NTLM first, with its token: two steps. The list is signed as the client signed it, or not at all.
*/
static void log_on(struct fixture *f, bool with_mic)
{
    struct bytes methods = put_one(f->arena, DER_SEQUENCE, unhex(f->arena, NTLM)), token,
                 mic = none;
    uint8_t signature[NTLM_SIGNATURE_SIZE];
    struct answer answer;

    assert_int_equal(
        step(f, init_token(f->arena, NTLM, initiator_begin(&f->client, f->arena)), &token),
        SPNEGO_MORE);
    answer = read_answer(token);
    assert_int_equal(answer.state, 1);
    assert_true(bytes_equal(answer.method, bytes_from(unhex(f->arena, NTLM), 2)));
    assert_null(answer.mic.ptr);
    answer.token = initiator_answer(&f->client, f->arena, answer.token);
    if (with_mic) {
        ntlm_sign(f->client.session_key, f->client.agreed, NTLM_CLIENT, methods, signature);
        mic = bytes_of(signature, sizeof signature);
    }
    assert_int_equal(step(f, response_token(f->arena, answer.token, mic), &token), SPNEGO_DONE);
    answer = read_answer(token);
    assert_int_equal(answer.state, 0);
    assert_null(answer.method.ptr);
    assert_null(answer.token.ptr);
    assert_int_equal(answer.mic.ptr != NULL, with_mic);
    if (with_mic) {
        ntlm_sign(f->client.session_key, f->client.agreed, NTLM_SERVER, methods, signature);
        assert_true(bytes_equal(answer.mic, bytes_of(signature, sizeof signature)));
    }
    assert_true(bytes_is(account_name(spnego_account(f->spnego)), "acct"));
    assert_memory_equal(spnego_session_key(f->spnego).ptr, f->client.session_key, NTLM_KEY_SIZE);
}

static void test_unsigned_list(void **state)
{
    log_on(*state, false);
}

static void test_signed_list(void **state)
{
    log_on(*state, true);
}

/* The Linux client's tokens have no wrapping; nor have ours to it. */
static void test_raw(void **state)
{
    struct fixture *f = *state;
    struct bytes token;

    assert_int_equal(step(f, initiator_begin(&f->client, f->arena), &token), SPNEGO_MORE);
    assert_true(ntlm_is_token(token));
    assert_int_equal(step(f, initiator_answer(&f->client, f->arena, token), &token), SPNEGO_DONE);
    assert_int_equal(token.len, 0);
}

enum signing { SIGNS, SIGNS_NOT, SIGNS_OTHER };

/* Another method is preferred: its token is passed over, NTLM is named, and the list has to be
 * signed. rfc: 4178 5 */
static enum spnego_step log_on_second(struct fixture *f, enum signing signing)
{
    struct bytes methods = put_one(f->arena, DER_SEQUENCE, unhex(f->arena, KRB5 NTLM)), token, mic;
    uint8_t signature[NTLM_SIGNATURE_SIZE];
    struct answer answer;

    assert_int_equal(
        step(f, init_token(f->arena, KRB5 NTLM, bytes_from_string("a ticket")), &token),
        SPNEGO_MORE);
    answer = read_answer(token);
    assert_int_equal(answer.state, 3);
    assert_true(bytes_equal(answer.method, bytes_from(unhex(f->arena, NTLM), 2)));
    assert_null(answer.token.ptr);
    assert_int_equal(
        step(f, response_token(f->arena, initiator_begin(&f->client, f->arena), none), &token),
        SPNEGO_MORE);
    answer = read_answer(token);
    assert_int_equal(answer.state, 1);
    answer.token = initiator_answer(&f->client, f->arena, answer.token);
    if (signing == SIGNS_OTHER) /* what somebody between made of it */
        methods = put_one(f->arena, DER_SEQUENCE, unhex(f->arena, NTLM));
    ntlm_sign(f->client.session_key, f->client.agreed, NTLM_CLIENT, methods, signature);
    mic = signing == SIGNS_NOT ? none : bytes_of(signature, sizeof signature);
    return step(f, response_token(f->arena, answer.token, mic), &token);
}

static void test_second_signed(void **state)
{
    assert_int_equal(log_on_second(*state, SIGNS), SPNEGO_DONE);
}

static void test_second_not_signed(void **state)
{
    assert_int_equal(log_on_second(*state, SIGNS_NOT), SPNEGO_REFUSED);
}

static void test_list_changed(void **state)
{
    assert_int_equal(log_on_second(*state, SIGNS_OTHER), SPNEGO_REFUSED);
}

/* Signed, but without the session security that a signature needs. */
static void test_cannot_sign(void **state)
{
    struct fixture *f = *state;

    f->client.flags = NTLM_UNICODE | NTLM_NTLM;
    assert_int_equal(log_on_second(f, SIGNS), SPNEGO_REFUSED);
}

static void test_no_method(void **state)
{
    struct fixture *f = *state;
    struct bytes token;

    assert_int_equal(step(f, init_token(f->arena, KRB5, bytes_from_string("a ticket")), &token),
                     SPNEGO_REFUSED);
    assert_int_equal(token.len, 0);
}

/* Every cut of a good token, and every byte of its frame changed, ends as malformed or refused. */
static void test_malformed(void **state)
{
    struct fixture *f = *state;
    struct bytes good = init_token(f->arena, NTLM, initiator_begin(&f->client, f->arena)), token;
    char *changed = arena_bytes(f->arena, good.len);

    for (size_t size = 0; size < good.len; size++) {
        assert_int_not_equal(step(f, bytes_of(good.ptr, size), &token), SPNEGO_MORE);
        spnego_free(f->spnego);
        f->spnego = spnego_new(f->accounts, NULL);
    }
    for (size_t at = 0; at < good.len - f->client.negotiate.len; at++) {
        memcpy(changed, good.ptr, good.len);
        changed[at] = (char)(changed[at] ^ 0x80);
        assert_int_not_equal(step(f, bytes_of(changed, good.len), &token), SPNEGO_MORE);
        spnego_free(f->spnego);
        f->spnego = spnego_new(f->accounts, NULL);
    }
}

/* The same of the client's second token; what it is not in is not looked at. */
static void test_malformed_answer(void **state)
{
    struct fixture *f = *state;
    struct bytes token, good,
        first = init_token(f->arena, NTLM, initiator_begin(&f->client, f->arena));
    uint8_t challenge[NTLM_CHALLENGE_SIZE] = { 1 };
    char *changed;
    size_t frame;

    for (size_t at = 0;; at++) {
        spnego_free(f->spnego);
        f->spnego = spnego_new(f->accounts, challenge);
        assert_int_equal(step(f, first, &token), SPNEGO_MORE);
        good = initiator_answer(&f->client, f->arena, read_answer(token).token);
        frame = response_token(f->arena, good, none).len - good.len;
        good = response_token(f->arena, good, none);
        if (at == frame)
            break;
        changed = arena_bytes(f->arena, good.len);
        memcpy(changed, good.ptr, good.len);
        changed[at] = (char)(changed[at] ^ 0x80);
        assert_int_not_equal(step(f, bytes_of(changed, good.len), &token), SPNEGO_DONE);
    }
    assert_int_equal(step(f, good, &token), SPNEGO_DONE);
}

/* Nothing may stand behind what a token has. */
static void test_more_than_a_token(void **state)
{
    struct fixture *f = *state;
    struct bytes token, fields[2];

    assert_int_equal(step(f, init_token(f->arena, NTLM, none), &token), SPNEGO_MORE);
    fields[0] = put_one(f->arena, DER_CONTEXT(2),
                        put_one(f->arena, DER_OCTET_STRING, initiator_begin(&f->client, f->arena)));
    fields[1] = put_one(f->arena, DER_CONTEXT(4), fields[0]);
    token = put_one(f->arena, DER_CONTEXT(1), der_put(f->arena, DER_SEQUENCE, fields, 2));
    assert_int_equal(step(f, token, &token), SPNEGO_MALFORMED);
}

/* NTLM first, but its token comes later: nothing has to be signed. */
static void test_first_without_token(void **state)
{
    struct fixture *f = *state;
    struct bytes token;
    struct answer answer;

    assert_int_equal(step(f, init_token(f->arena, NTLM, none), &token), SPNEGO_MORE);
    assert_int_equal(read_answer(token).state, 1);
    assert_int_equal(
        step(f, response_token(f->arena, initiator_begin(&f->client, f->arena), none), &token),
        SPNEGO_MORE);
    answer = read_answer(token);
    answer.token = initiator_answer(&f->client, f->arena, answer.token);
    assert_int_equal(step(f, response_token(f->arena, answer.token, none), &token), SPNEGO_DONE);
}

/* Another protocol's token in the same wrapping (Kerberos' own, without SPNEGO). rfc: 2743 3.1 */
static void test_other_protocol(void **state)
{
    struct fixture *f = *state;
    struct bytes token, good = init_token(f->arena, NTLM, initiator_begin(&f->client, f->arena));
    char *changed = arena_bytes(f->arena, good.len);

    memcpy(changed, good.ptr, good.len);
    changed[2 + 7]++; /* the last byte of the OID */
    assert_int_equal(step(f, bytes_of(changed, good.len), &token), SPNEGO_MALFORMED);
}

/* Lengths: short, long in up to four bytes, never indefinite, never past the end. X.690 8.1.3 */
static void test_der_lengths(void **state)
{
    static const struct {
        const char *encoded;
        int length; /* -1: bad */
    } cases[] = {
        { "0400", 0 },
        { "0401AA", 1 },
        { "048101AA", 1 },
        { "04820001AA", 1 },
        { "0484 00000001 AA", 1 },
        { "0485 0000000001 AA", -1 },
        { "0480AA", -1 },
        { "0402AA", -1 },
        { "0482", -1 },
        { "048400000001", -1 },
        { "04", -1 },
        { "", -1 },
        { "0501AA", -1 },
        { "0484FFFFFFFFAA", -1 },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct der d = der_of(unhex(f->arena, cases[i].encoded));
        struct bytes whole, content = der_take(&d, DER_OCTET_STRING, &whole);

        assert_int_equal(d.bad, cases[i].length < 0);
        assert_int_equal(content.len, cases[i].length < 0 ? 0 : cases[i].length);
        assert_true(cases[i].length < 0 || (d.rest.len == 0 && whole.len >= 2));
        assert_true(der_at_end(&d));
    }
    for (size_t size = 0; size < 70000; size = size == 127 ? 128 : size * 2 + 1) {
        struct bytes part = bytes_of(arena_alloc(f->arena, size), size);
        struct der d = der_of(der_put(f->arena, DER_OCTET_STRING, &part, 1));

        assert_int_equal(der_take(&d, DER_OCTET_STRING, NULL).len, size);
        assert_true(!d.bad && d.rest.len == 0);
    }
}

/* Longer than any token that is one. */
static void test_too_long(void **state)
{
    struct fixture *f = *state;
    struct bytes long_token =
                     bytes_of(arena_alloc(f->arena, SPNEGO_TOKEN_MAX + 1), SPNEGO_TOKEN_MAX + 1),
                 token;

    memcpy((char *)long_token.ptr, initiator_begin(&f->client, f->arena).ptr, 40);
    assert_int_equal(step(f, long_token, &token), SPNEGO_MALFORMED);
}

/* What is kept of a first token, for nobody knows whom, is short. */
static void test_kept_is_short(void **state)
{
    struct fixture *f = *state;
    struct bytes first = initiator_begin(&f->client, f->arena), token;
    struct text many, padded;

    text_init(&many, f->arena, 4096);
    text_add(&many, bytes_from_string(NTLM));
    while (many.len < 2 * 1024) /* in hexadecimal digits */
        text_add(&many, bytes_from_string(KRB5));
    text_add_char(&many, 0);
    assert_int_equal(step(f, init_token(f->arena, many.ptr, first), &token), SPNEGO_MALFORMED);

    spnego_free(f->spnego);
    f->spnego = spnego_new(f->accounts, NULL);
    text_init(&padded, f->arena, 4096);
    text_add(&padded, first);
    while (padded.len <= 1024)
        text_add_char(&padded, 0);
    assert_int_equal(step(f, text_bytes(&padded), &token), SPNEGO_MALFORMED);
}

/* As Windows offers it, but with NTLM alone. ms-spng: 2.2.1 */
static void test_offer(void **state)
{
    struct fixture *f = *state;
    struct bytes expected =
        unhex(f->arena, "604806062B0601050502A03E303C"
                        "A00E300C060A2B06010401823702020A"
                        "A32A3028A0261B246E6F745F646566696E65645F696E5F52464334313738"
                        "40706C656173655F69676E6F7265");

    assert_true(bytes_equal(spnego_offer(f->arena), expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unsigned_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_signed_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_raw, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_second_signed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_second_not_signed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cannot_sign, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_method, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_malformed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_than_a_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_without_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_protocol, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_der_lengths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kept_is_short, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_offer, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
