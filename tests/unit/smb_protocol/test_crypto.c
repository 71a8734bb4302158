/* Keys, signatures and sealed frames: published numbers, and numbers made by other
 * implementations of the same algorithms. crypto.h; ms-smb2: 3.1.4 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/endian.h"
#include "hex.h"
#include "sample_session.h"
#include "smb_protocol/crypto.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int set_up(void **state)
{
    *state = arena_new(1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static void assert_hex(struct arena *arena, const uint8_t *got, const char *expected)
{
    struct bytes bytes = unhex(arena, expected);

    assert_memory_equal(got, bytes.ptr, bytes.len);
}

/* ---- the published session ---- */

static struct preauth sample_preauth(struct arena *arena)
{
    struct preauth preauth = { 0 };

    for (size_t i = 0; i + 1 < COUNT(sample_messages); i++)
        preauth_add(&preauth, unhex(arena, sample_messages[i]));
    return preauth;
}

/* All messages before the last answer, one hash. ms-smb2: 3.3.5.4, 3.3.5.5 */
static void test_preauth(void **state)
{
    struct preauth preauth = sample_preauth(*state);

    assert_hex(*state, preauth.hash, SAMPLE_PREAUTH);
}

/* Keys of 3.1.1. ms-smb2: 3.3.5.5.3 */
static void test_keys_311(void **state)
{
    struct preauth preauth = sample_preauth(*state);
    struct smb_keys keys;
    uint8_t channel[SIGNING_KEY_SIZE];

    smb_keys_derive(SMB_311, CIPHER_AES_128_GCM, unhex(*state, SAMPLE_SESSION_KEY), &preauth,
                    &keys);
    assert_hex(*state, keys.signing, "73FE7A9A77BEF0BDE49C650D8CCB5F76");
    /* The client's names in the publication: what it opens is what the server seals. */
    assert_hex(*state, keys.opening, "629BCBC54422A0F572B97F45989B6073");
    assert_hex(*state, keys.sealing, "E2AF0DCEFAC68DA71A0DFBD0D1350D74");
    assert_hex(*state, keys.application, "6D7AD7954E9EC61E907B4D473DC178FF");
    assert_int_equal(keys.sealing_size, 16);
    smb_channel_key_derive(SMB_311, unhex(*state, SAMPLE_SESSION_KEY), &preauth, channel);
    assert_memory_equal(channel, keys.signing, sizeof channel);
    smb_keys_wipe(&keys);
    for (size_t i = 0; i < sizeof keys; i++)
        assert_int_equal(((const char *)&keys)[i], 0);
}

/* AES-256 has keys of 32 bytes, made of all of the session's key; others still of its first 16.
 * By Python's hmac. */
static void test_keys_256(void **state)
{
    static const enum smb_cipher ciphers[] = { CIPHER_AES_256_CCM, CIPHER_AES_256_GCM };
    struct bytes key =
        unhex(*state, "202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F");
    struct preauth preauth = sample_preauth(*state);
    struct smb_keys keys;

    for (size_t i = 0; i < COUNT(ciphers); i++) {
        smb_keys_derive(SMB_311, ciphers[i], key, &preauth, &keys);
        assert_int_equal(keys.sealing_size, 32);
        assert_hex(*state, keys.sealing,
                   "F9966992C8F66AE39552C75524324B5A48D4288D1BAFB99378622F14BA492B35");
        assert_hex(*state, keys.opening,
                   "81F58D11B8A0A1A1B632F5DAB11A0C8FE716592C18644EF50EBE2995EED48EE8");
        assert_hex(*state, keys.signing, "D23D497E7C70D42575D453017208C436");
    }
}

/* Keys of 3.0, and of another channel of that session. */
static void test_keys_30(void **state)
{
    struct bytes key = unhex(*state, "7CD451825D0450D235424E44BA6E78CC");
    struct smb_keys keys;
    uint8_t channel[SIGNING_KEY_SIZE];

    smb_keys_derive(SMB_300, CIPHER_AES_128_CCM, key, NULL, &keys);
    assert_hex(*state, keys.signing, "0B7E9C5CAC36C0F6EA9AB275298CEDCE");
    assert_hex(*state, keys.opening, "FAD27796665B313EBB578F388632B4F7");
    assert_hex(*state, keys.sealing, "B0F0427F7CEB416D1D9DCC0CD4F99447");
    assert_hex(*state, keys.application, "BB23A4575AA26C721AF525AF15A87B4F");
    smb_channel_key_derive(SMB_302, unhex(*state, "4E01A2B313BCF660CC250BEF021AEDE6"), NULL,
                           channel);
    assert_hex(*state, channel, "BA1A17DBBFEC349BCA105563D598952F");
}

/* Before 3.0 the session's key signs; what is shorter has zeros behind it, what is longer is
 * cut. */
static void test_keys_21(void **state)
{
    struct smb_keys keys;

    smb_keys_derive(SMB_210, CIPHER_NONE, unhex(*state, "0102030405060708"), NULL, &keys);
    assert_hex(*state, keys.signing, "01020304050607080000000000000000");
    smb_keys_derive(SMB_210, CIPHER_NONE,
                    unhex(*state, "000102030405060708090A0B0C0D0E0F1011121314"), NULL, &keys);
    assert_hex(*state, keys.signing, "000102030405060708090A0B0C0D0E0F");
}

/* The last answer of the published session has a signature by AES-CMAC. */
static void test_published_signature(void **state)
{
    struct bytes answer = unhex(*state, sample_messages[COUNT(sample_messages) - 1]);
    uint8_t *message = (uint8_t *)answer.ptr;
    struct signer *signer = signer_new(
        SIGNING_AES_CMAC, (const uint8_t *)unhex(*state, "73FE7A9A77BEF0BDE49C650D8CCB5F76").ptr);

    assert_true(signer_verify(signer, answer));
    memset(message + SMB_SIGNATURE_AT, 0xEE, SMB_SIGNATURE_SIZE);
    assert_false(signer_verify(signer, answer));
    message[SMB_FLAGS_AT] = SMB_FLAG_RESPONSE;
    signer_sign(signer, message, answer.len);
    assert_int_equal(message[SMB_FLAGS_AT], SMB_FLAG_RESPONSE | SMB_FLAG_SIGNED);
    assert_hex(*state, message + SMB_SIGNATURE_AT, "EBE146DA120BA25FC3376A49DFE31BC1");
    signer_free(signer);
}

/* ---- signing ---- */

static const uint8_t signing_key[] = { 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
                                       0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F };

static struct bytes message_of(struct arena *arena, enum smb_command command, uint32_t flags,
                               const char *body, size_t body_size)
{
    struct smb_header header = {
        .credit_charge = 1,
        .command = (uint16_t)command,
        .credits = 1,
        .flags = flags,
        .message_id = 0x0102030405060708,
        .process_id = 0xFEFF,
        .tree_id = 5,
        .session_id = 0x1122334455667788,
    };
    struct text out;
    struct wire_writer w;

    text_init(&out, arena, 128);
    wire_writer_init(&w, &out);
    smb_header_write(&w, &header);
    wire_put(&w, bytes_of(body, body_size));
    return text_bytes(&out);
}

/* Each algorithm; of GMAC the sender and CANCEL are in the nonce. The numbers are of Python's
 * hmac and of OpenSSL. ms-smb2: 3.1.4.1 */
static void test_signatures(void **state)
{
    static const struct {
        enum smb_signing algorithm;
        enum smb_command command;
        uint32_t flags;
        const char *signature;
    } cases[] = {
        { SIGNING_HMAC_SHA256, SMB_WRITE, SMB_FLAG_RESPONSE, "67EA3A2BFEEBD3AD7B1B9BE78038579B" },
        { SIGNING_AES_CMAC, SMB_WRITE, SMB_FLAG_RESPONSE, "34D3C2D7722184683DB001633FE96451" },
        { SIGNING_AES_GMAC, SMB_WRITE, SMB_FLAG_RESPONSE, "524A3877134D58299D17692270D95EEB" },
        { SIGNING_AES_GMAC, SMB_WRITE, 0, "2B5F6216AEB0D72D6F05D9BEF727B8A9" },
        { SIGNING_AES_GMAC, SMB_CANCEL, 0, "E6EEF22278167174E8F00FB6D6D3670E" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        bool is_cancel = cases[i].command == SMB_CANCEL;
        struct bytes message =
            message_of(*state, cases[i].command, cases[i].flags,
                       is_cancel ? "\4\0\0" : "signed bytes..", is_cancel ? 4 : 14);
        struct signer *signer = signer_new(cases[i].algorithm, signing_key);

        signer_sign(signer, (uint8_t *)message.ptr, message.len);
        assert_hex(*state, (const uint8_t *)message.ptr + SMB_SIGNATURE_AT, cases[i].signature);
        assert_true(signer_verify(signer, message));
        /* Each byte counts, those of the signature too. */
        for (size_t at = 0; at < message.len; at++) {
            ((char *)message.ptr)[at] ^= 0x40;
            assert_false(signer_verify(signer, message));
            ((char *)message.ptr)[at] ^= 0x40;
        }
        for (size_t size = 0; size < message.len; size++)
            assert_false(signer_verify(signer, bytes_of(message.ptr, size)));
        signer_free(signer);
    }
    signer_free(NULL);
}

/* ---- sealing ---- */

static const char sealed_text[] = "What is sealed, longer than a block of AES";
#define TEXT_SIZE  (sizeof sealed_text - 1)
#define FRAME_SIZE (SMB_TRANSFORM_SIZE + TEXT_SIZE)

static const struct {
    enum smb_cipher cipher;
    const char *frames[2]; /* the first that a key seals, and the second; by OpenSSL */
} sealed[] = {
    { CIPHER_AES_128_CCM,
      { "FD534D42F991C829A9928739F11672DD585C88B8000000000000000000000000000000002A0000000000"
        "010099000000000000008C7E412BF7F8768B8C1D2328E1831F672D14B6037F2FDDA0BC249A883CA0F358"
        "28AFB0D9F95E67038E18",
        "FD534D420C9F22BFE6CDEFD7443EB1192B19AD36010000000000000000000000000000002A0000000000"
        "0100990000000000000046816D19434EE6131F1685B0ABCFED2F0493594A45E3F58DBF1F20E65BC4DE08"
        "E2CF8F41920E563947C9" } },
    { CIPHER_AES_128_GCM,
      { "FD534D429A37590C1E8AF2810D2309788FB06074000000000000000000000000000000002A0000000000"
        "01009900000000000000B97E61B3EE61564BB76CF5C7C3045E006AB0F0ECCC3093059DE9328219C30310"
        "D3C0E5057FB266D2C1B2",
        "FD534D426E26DF34A4BB13BC6BA451F23F7386CC010000000000000000000000000000002A0000000000"
        "0100990000000000000091A1BD2CACB7EC9771557421AEB6D452527A68FFFC57BF9823A226FC7DCB47D7"
        "BEDC74872C457DAA1440" } },
    { CIPHER_AES_256_CCM,
      { "FD534D426B9ED7549DBA0C32C7119DD51C4C1B4D000000000000000000000000000000002A0000000000"
        "01009900000000000000F26C686554E7B96B13203847266B5C3FADD4EF29C4C7B4CC88FC91C57B4CAEE0"
        "5BF7EA02A5C120F2BD87",
        "FD534D424821BD8B7AFF00E0719F28015C0DF59A010000000000000000000000000000002A0000000000"
        "01009900000000000000624687C6452BA3B92CC43DECD6E661330451799151AA303820B73C8CCBA078AB"
        "3BB7E93E09D5013497D9" } },
    { CIPHER_AES_256_GCM,
      { "FD534D421A00D7DDA4E6B592364D230E1BB13D82000000000000000000000000000000002A0000000000"
        "010099000000000000000D5C510CB401A18BABEEF99F5A994E6643ED6EF9F3649125D3C5B3DD8F10702A"
        "AC50D2A273F92400D0E2",
        "FD534D42431A2F28832D57FAAE1D2E1FFB3CFD82010000000000000000000000000000002A0000000000"
        "010099000000000000008C74D6531EF49578723B193DD4B06E9DC0B18EADA720E65DF3802E4862A3E04B"
        "A4644F58DFDA6A51EE92" } },
};

static struct sealer *new_sealer(enum smb_cipher cipher)
{
    uint8_t key[SEALING_KEY_MAX];

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(0x40 + i);
    return sealer_new(cipher, key);
}

/* ms-smb2: 3.1.4.3 */
static void test_seal(void **state)
{
    for (size_t i = 0; i < COUNT(sealed); i++) {
        struct sealer *sealer = new_sealer(sealed[i].cipher);

        for (int n = 0; n < 2; n++) {
            uint8_t frame[FRAME_SIZE];

            memset(frame, 0xAA, sizeof frame);
            memcpy(frame + SMB_TRANSFORM_SIZE, sealed_text, TEXT_SIZE);
            assert_true(sealer_seal(sealer, 0x99, frame, sizeof frame));
            assert_hex(*state, frame, sealed[i].frames[n]);
            assert_true(sealer_open(sealer, frame, sizeof frame));
            assert_memory_equal(frame + SMB_TRANSFORM_SIZE, sealed_text, TEXT_SIZE);
        }
        sealer_free(sealer);
    }
    sealer_free(NULL);
}

/* A changed bit anywhere, also in bytes that mean nothing, a cut, and another key are noticed. */
static void test_open_refuses(void **state)
{
    for (size_t i = 0; i < COUNT(sealed); i++) {
        struct bytes good = unhex(*state, sealed[i].frames[0]);
        struct sealer *sealer = new_sealer(sealed[i].cipher);
        uint8_t frame[FRAME_SIZE], other_key[SEALING_KEY_MAX] = { 0 };
        struct sealer *other = sealer_new(sealed[i].cipher, other_key);

        for (size_t at = 0; at < FRAME_SIZE; at++) {
            memcpy(frame, good.ptr, sizeof frame);
            frame[at] ^= 1;
            assert_false(sealer_open(sealer, frame, sizeof frame));
        }
        for (size_t size = 0; size < FRAME_SIZE; size++) {
            memcpy(frame, good.ptr, sizeof frame);
            assert_false(sealer_open(sealer, frame, size));
        }
        memcpy(frame, good.ptr, sizeof frame);
        assert_false(sealer_open(other, frame, sizeof frame));
        assert_true(
            sealer_open(sealer, (uint8_t *)memcpy(frame, good.ptr, sizeof frame), sizeof frame));
        sealer_free(sealer);
        sealer_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preauth),      cmocka_unit_test(test_keys_311),
        cmocka_unit_test(test_keys_256),     cmocka_unit_test(test_keys_30),
        cmocka_unit_test(test_keys_21),      cmocka_unit_test(test_published_signature),
        cmocka_unit_test(test_signatures),   cmocka_unit_test(test_seal),
        cmocka_unit_test(test_open_refuses),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
