/* NTLMv2 as a server: the published numbers, either key of an account, and everything that is
 * refused. ms-nlmp: 3.2.5, 4.2.4 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/endian.h"
#include "hex.h"
#include "../smb/initiator.h"
#include "sample_session.h"
#include "smb_protocol/ntlm.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define KEY1         "a2V5IG9uZSBvZiB0aGUgYWNjb3VudA=="
#define KEY2         "a2V5IHR3byBvZiB0aGUgYWNjb3VudA=="
#define NOW          (INSTANT_UNIX_EPOCH + 1600000000 * TICKS_PER_SECOND)

static const uint8_t challenge[] = { 1, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF };

struct fixture {
    struct arena *arena;
    struct accounts *accounts;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    const char *problem;

    f->arena = arena_new(1 << 20);
    f->accounts = accounts_new();
    *state = f;
    return accounts_add_list(f->accounts, "acct:" KEY1 ":" KEY2 ";other:b3RoZXI=", &problem) ? 0
                                                                                             : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    accounts_free(f->accounts);
    arena_free(f->arena);
    free(f);
    return 0;
}

/* ---- published numbers ---- */

/* User "User" of "Domain" with the password "Password". ms-nlmp: 4.2.1, 4.2.4 */
static void test_published(void **state)
{
    const struct fixture *f = *state;
    struct bytes hash = unhex(f->arena, "A4F49C406510BDCAB6824EE7C30FD852"),
                 user = unhex(f->arena, "5500730065007200"),
                 domain = unhex(f->arena, "44006F006D00610069006E00"),
                 blob = unhex(f->arena, "01010000000000000000000000000000AAAAAAAAAAAAAAAA00000000"
                                        "02000C0044006F006D00610069006E00"
                                        "01000C0053006500720076006500720000000000"
                                        "00000000");
    uint8_t key[NTLM_KEY_SIZE], proof[NTLM_PROOF_SIZE], base[NTLM_KEY_SIZE], sent[NTLM_KEY_SIZE],
        random[NTLM_KEY_SIZE];

    ntlm_user_key((const uint8_t *)hash.ptr, user, domain, key);
    assert_memory_equal(key, unhex(f->arena, "0C868A403BFD7A93A3001EF22EF02E3F").ptr, sizeof key);
    ntlm_proof(key, challenge, blob, proof);
    assert_memory_equal(proof, unhex(f->arena, "68CD0AB851E51C96AABC927BEBEF6A1C").ptr,
                        sizeof proof);
    ntlm_base_key(key, proof, base);
    assert_memory_equal(base, unhex(f->arena, "8DE40CCADBC14A82F15CB0AD0DE95CA3").ptr, sizeof base);
    memset(random, 0x55, sizeof random);
    ntlm_exchange_key(base, random, sent);
    assert_memory_equal(sent, unhex(f->arena, "C5DAD2544FC9799094CE1CE90BC9D03E").ptr, sizeof sent);
}

/* What two Windows machines signed the list of methods with. */
static void test_published_signatures(void **state)
{
    const struct fixture *f = *state;
    const uint8_t *key = (const uint8_t *)unhex(f->arena, SAMPLE_SESSION_KEY).ptr;
    struct bytes methods = unhex(f->arena, SAMPLE_METHODS);
    uint8_t signature[NTLM_SIGNATURE_SIZE];

    ntlm_sign(key, SAMPLE_NTLM_FLAGS, NTLM_CLIENT, methods, signature);
    assert_memory_equal(signature, unhex(f->arena, SAMPLE_CLIENT_MIC).ptr, sizeof signature);
    ntlm_sign(key, SAMPLE_NTLM_FLAGS, NTLM_SERVER, methods, signature);
    assert_memory_equal(signature, unhex(f->arena, SAMPLE_SERVER_MIC).ptr, sizeof signature);
}

/* Weaker keys, and a signature that is not sealed: the first numbers are published, the others
 * of Python's hashlib. ms-nlmp: 4.2.3.4 */
static void test_strengths(void **state)
{
    static const struct {
        const char *key, *message;
        uint32_t flags;
        const char *signature;
    } cases[] = {
        { "EB93429A8BD952F8B89C55B87F475EDC", "50006C00610069006E007400650078007400",
          NTLM_EXTENDED_SECURITY, "01000000FF2AEB52F681793A00000000" },
        { SAMPLE_SESSION_KEY, SAMPLE_METHODS, NTLM_128, "01000000A4054627833289B500000000" },
        { SAMPLE_SESSION_KEY, SAMPLE_METHODS, NTLM_KEY_EXCHANGE | NTLM_128 | NTLM_56,
          SAMPLE_CLIENT_MIC },
        { SAMPLE_SESSION_KEY, SAMPLE_METHODS, NTLM_KEY_EXCHANGE | NTLM_56,
          "01000000FF0A7B103AC42CA400000000" },
        { SAMPLE_SESSION_KEY, SAMPLE_METHODS, NTLM_KEY_EXCHANGE,
          "01000000E1CD8C93845B36F800000000" },
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t signature[NTLM_SIGNATURE_SIZE];

        ntlm_sign((const uint8_t *)unhex(f->arena, cases[i].key).ptr, cases[i].flags, NTLM_CLIENT,
                  unhex(f->arena, cases[i].message), signature);
        assert_memory_equal(signature, unhex(f->arena, cases[i].signature).ptr, sizeof signature);
    }
}

/* ---- who is who ---- */

/* Both steps of a client. ret_ntlm: to be freed by the caller. */
static enum spnego_step log_on(const struct fixture *f, struct initiator *i, struct ntlm **ret_ntlm)
{
    struct bytes token = { 0 };
    enum spnego_step step;

    *ret_ntlm = ntlm_new(f->accounts, challenge);
    step = ntlm_step(*ret_ntlm, f->arena, initiator_begin(i, f->arena), NOW, &token);
    if (step != SPNEGO_MORE)
        return step;
    return ntlm_step(*ret_ntlm, f->arena, initiator_answer(i, f->arena, token), NOW, &token);
}

static const struct {
    struct initiator client;
    enum spnego_step step;
    const char *account;
} clients[] = {
    { { .user = "acct", .domain = "AZURE", .password = KEY1 }, SPNEGO_DONE, "acct" },
    { { .user = "acct", .domain = "AZURE", .password = KEY2 }, SPNEGO_DONE, "acct" },
    { { .user = "acct", .domain = "localhost", .password = KEY1 }, SPNEGO_DONE, "acct" },
    { { .user = "acct", .domain = "", .password = KEY2 }, SPNEGO_DONE, "acct" },
    { { .user = "AZURE\\acct", .domain = "", .password = KEY2 }, SPNEGO_DONE, "acct" },
    { { .user = "Acct", .domain = "Azure", .password = KEY1 }, SPNEGO_DONE, "acct" },
    { { .user = "other", .domain = "", .password = "b3RoZXI=" }, SPNEGO_DONE, "other" },
    { { .user = "acct", .domain = "", .password = KEY1, .without_mic = true },
      SPNEGO_DONE,
      "acct" },
    { { .user = "acct", .domain = "", .password = KEY1, .flags = NTLM_UNICODE | NTLM_NTLM },
      SPNEGO_DONE,
      "acct" },
    { { .user = "acct", .domain = "", .password = "b3RoZXI=" }, SPNEGO_REFUSED, NULL },
    { { .user = "other", .domain = "", .password = KEY1 }, SPNEGO_REFUSED, NULL },
    { { .user = "nobody", .domain = "", .password = "" }, SPNEGO_REFUSED, NULL },
    { { .user = "nobody", .domain = "", .password = KEY1 }, SPNEGO_REFUSED, NULL },
    { { .user = "guest", .domain = "", .password = "" }, SPNEGO_REFUSED, NULL },
    { { .user = "", .domain = "", .password = "" }, SPNEGO_REFUSED, NULL },
    { { .user = "acct", .domain = "", .password = "" }, SPNEGO_REFUSED, NULL },
    { { .user = "acct", .domain = "", .password = KEY1, .spoils_mic = true },
      SPNEGO_REFUSED,
      NULL },
    /* There is no key whose hash could be zeros: neither of nobody, nor a second one. */
    { { .user = "nobody", .domain = "", .password = "", .has_no_password = true },
      SPNEGO_REFUSED,
      NULL },
    { { .user = "other", .domain = "", .password = "", .has_no_password = true },
      SPNEGO_REFUSED,
      NULL },
    { { .user = "acct", .domain = "", .password = KEY1, .without_mic = true, .short_key = true },
      SPNEGO_REFUSED,
      NULL },
    { { .user = "acct", .domain = "", .password = KEY1, .other_version = true },
      SPNEGO_MALFORMED,
      NULL },
    { { .user = "acct",
        .domain = "",
        .password = KEY1,
        .without_mic = true,
        .odd_flags_pair = true },
      SPNEGO_DONE,
      "acct" },
    { { .user = "acct", .domain = "", .password = KEY1, .changes_flags = NTLM_ANONYMOUS },
      SPNEGO_REFUSED,
      NULL },
    { { .user = "acct", .domain = "", .password = KEY1, .changes_flags = NTLM_UNICODE },
      SPNEGO_REFUSED,
      NULL },
    { { .user = "acct", .domain = "", .password = KEY1, .flags = NTLM_UNICODE },
      SPNEGO_REFUSED,
      NULL },
    /* NTLMv1's response has 24 bytes. */
    { { .user = "acct", .domain = "", .password = KEY1, .response_size = 24 },
      SPNEGO_REFUSED,
      NULL },
    { { .user = "acct", .domain = "", .password = KEY1, .flags = NTLM_NTLM },
      SPNEGO_REFUSED,
      NULL },
};

static void test_who(void **state)
{
    const struct fixture *f = *state;

    for (size_t n = 0; n < COUNT(clients); n++) {
        struct initiator client = clients[n].client;
        struct ntlm *ntlm;
        enum spnego_step step = log_on(f, &client, &ntlm);

        if (step != clients[n].step)
            fail_msg("case %zu: %d", n, step);
        if (step == SPNEGO_DONE) {
            assert_true(bytes_is(account_name(ntlm_account(ntlm)), clients[n].account));
            assert_memory_equal(ntlm_session_key(ntlm).ptr, client.session_key, NTLM_KEY_SIZE);
        }
        ntlm_free(ntlm);
    }
    ntlm_free(NULL);
}

/* An answer to one challenge proves nothing for another. */
static void test_other_challenge(void **state)
{
    static const uint8_t other_challenge[NTLM_CHALLENGE_SIZE] = { 9 };
    const struct fixture *f = *state;
    struct initiator client = {
        .user = "acct", .domain = "", .password = KEY1, .without_mic = true
    };
    struct ntlm *one = ntlm_new(f->accounts, challenge),
                *two = ntlm_new(f->accounts, other_challenge);
    struct bytes first = initiator_begin(&client, f->arena), token, answer;

    assert_int_equal(ntlm_step(one, f->arena, first, NOW, &token), SPNEGO_MORE);
    answer = initiator_answer(&client, f->arena, token);
    assert_int_equal(ntlm_step(two, f->arena, first, NOW, &token), SPNEGO_MORE);
    assert_int_equal(ntlm_step(two, f->arena, answer, NOW, &token), SPNEGO_REFUSED);
    assert_int_equal(ntlm_step(one, f->arena, answer, NOW, &token), SPNEGO_DONE);
    ntlm_free(one);
    ntlm_free(two);
}

/* The challenge: our name, the time, what the client offered and we have. ms-nlmp: 2.2.1.2,
 * 2.2.2.1 */
static void test_challenge(void **state)
{
    const struct fixture *f = *state;
    struct initiator client = { .user = "", .flags = 0xFFFFFFFF };
    struct ntlm *ntlm = ntlm_new(f->accounts, challenge);
    struct bytes token, info;

    assert_int_equal(ntlm_step(ntlm, f->arena, initiator_begin(&client, f->arena), NOW, &token),
                     SPNEGO_MORE);
    assert_true(
        bytes_has_prefix(token, unhex(f->arena, "4E544C4D53535000 02000000 0A000A0038000000")));
    assert_int_equal(le32_get(token.ptr + 20), 0xE28A8235);
    assert_memory_equal(token.ptr + 24, challenge, sizeof challenge);
    assert_int_equal(le32_get(token.ptr + 44), 56 + 10);
    assert_int_equal(le16_get(token.ptr + 40), token.len - 66);
    assert_int_equal(le16_get(token.ptr + 42), token.len - 66);
    assert_memory_equal(token.ptr + 56, unhex(f->arena, "4C004100470052004100").ptr, 10);
    info = bytes_from(token, 66);
    assert_true(bytes_has_prefix(info, unhex(f->arena, "02000A004C00410047005200410001000A00")));
    info = bytes_from(info, info.len - 16);
    assert_int_equal(le32_get(info.ptr), 0x00080007);
    assert_int_equal(le64_get(info.ptr + 4), NOW - INSTANT_UNIX_EPOCH + 116444736000000000);
    assert_int_equal(le32_get(info.ptr + 12), 0);
    ntlm_free(ntlm);
}

/* Tokens that are cut, of another kind, or out of their order; nothing of them is believed. */
static void test_malformed(void **state)
{
    const struct fixture *f = *state;
    struct initiator client = { .user = "acct", .domain = "D", .password = KEY1 };
    struct bytes first = initiator_begin(&client, f->arena), token, answer;
    struct ntlm *ntlm = ntlm_new(f->accounts, challenge);

    assert_int_equal(ntlm_step(ntlm, f->arena, first, NOW, &token), SPNEGO_MORE);
    answer = initiator_answer(&client, f->arena, token);
    ntlm_free(ntlm);
    for (size_t size = 0; size <= first.len; size++) {
        ntlm = ntlm_new(f->accounts, challenge);
        assert_int_equal(ntlm_step(ntlm, f->arena, bytes_of(first.ptr, size), NOW, &token),
                         size < 16 ? SPNEGO_MALFORMED : SPNEGO_MORE);
        ntlm_free(ntlm);
    }
    for (size_t size = 0; size < answer.len; size++) {
        ntlm = ntlm_new(f->accounts, challenge);
        assert_int_equal(ntlm_step(ntlm, f->arena, first, NOW, &token), SPNEGO_MORE);
        assert_int_equal(ntlm_step(ntlm, f->arena, bytes_of(answer.ptr, size), NOW, &token),
                         SPNEGO_MALFORMED);
        ntlm_free(ntlm);
    }
    ntlm = ntlm_new(f->accounts, challenge);
    assert_int_equal(ntlm_step(ntlm, f->arena, answer, NOW, &token), SPNEGO_MALFORMED);
    ntlm_free(ntlm);
    ntlm = ntlm_new(f->accounts, challenge);
    assert_int_equal(ntlm_step(ntlm, f->arena, first, NOW, &token), SPNEGO_MORE);
    assert_int_equal(ntlm_step(ntlm, f->arena, first, NOW, &token), SPNEGO_MALFORMED);
    ntlm_free(ntlm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),       cmocka_unit_test(test_published_signatures),
        cmocka_unit_test(test_strengths),       cmocka_unit_test(test_who),
        cmocka_unit_test(test_other_challenge), cmocka_unit_test(test_challenge),
        cmocka_unit_test(test_malformed),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
