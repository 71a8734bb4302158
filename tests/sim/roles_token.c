/* See roles_token.h. rfc: 7515 3.1, 7518 3.4 */
#include "roles_token.h"

#include <assert.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "roles.h"
#include "world.h"

const char *const token_flaws[FLAWS] = { "",        "expired", "early",   "issuer",   "audience",
                                         "account", "forged",  "altered", "unsigned", "no TLS" };

/* The key that signs all tokens; generated for this test. */
static unsigned char key_x[] = { 0x3b, 0x19, 0xdc, 0xd9, 0x7d, 0x7a, 0x91, 0xde, 0x68, 0x3b, 0x9a,
                                 0xd2, 0xb7, 0xce, 0x3a, 0x84, 0x31, 0x53, 0xf3, 0x23, 0x3c, 0xf3,
                                 0x4f, 0x12, 0x66, 0xd1, 0xff, 0x36, 0xe8, 0xb0, 0xc6, 0x90 };
static unsigned char key_y[] = { 0x08, 0x2d, 0xbd, 0x9e, 0x31, 0xb8, 0x77, 0xd8, 0x5f, 0x8d, 0x7b,
                                 0xcf, 0xbc, 0x55, 0x34, 0xfa, 0x1f, 0xa7, 0xd3, 0xd5, 0x12, 0xf9,
                                 0x6a, 0x14, 0x6b, 0x1d, 0x6b, 0x54, 0x02, 0xb1, 0x72, 0xbd };
static unsigned char key_k[] = { 0xb3, 0xbf, 0xc2, 0x1f, 0x4d, 0x03, 0x09, 0xef, 0x0f, 0xd3, 0x50,
                                 0x6b, 0x31, 0x47, 0x58, 0xd4, 0xcc, 0x54, 0x9f, 0xae, 0x7a, 0xeb,
                                 0x69, 0xe3, 0xd3, 0x85, 0x56, 0x91, 0xe7, 0x9f, 0x1d, 0x32 };

/* Adds base64url without padding. */
static void add_encoded(struct text *text, const void *from, size_t size)
{
    char encoded[400];
    size_t length = BASE64_ENCODE_RAW_LENGTH(size);

    assert(length <= sizeof encoded);
    base64_encode_raw(encoded, size, from);
    for (size_t i = 0; i < length; i++)
        encoded[i] = encoded[i] == '+' ? '-' : encoded[i] == '/' ? '_' : encoded[i];
    while (length > 0 && encoded[length - 1] == '=')
        length--;
    text_add(text, bytes_of(encoded, length));
}

struct bytes token_keys(struct arena *arena)
{
    struct text keys;

    text_init(&keys, arena, 512);
    text_add_string(&keys, "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"1\",\"x\":\"");
    add_encoded(&keys, key_x, sizeof key_x);
    text_add_string(&keys, "\",\"y\":\"");
    add_encoded(&keys, key_y, sizeof key_y);
    text_add_string(&keys, "\"}]}");
    return text_bytes(&keys);
}

static void add_claims(unsigned principal, enum flaw flaw, struct text *text)
{
    char claims[300];
    const char *audience = flaw == FOR_OTHERS          ? "https://vault.azure.net"
                           : flaw == FOR_OTHER_ACCOUNT ? "https://devstoreaccount2.blob.core."
                                                         "windows.net"
                                                       : "https://storage.azure.com/";

    (void)snprintf(claims, sizeof claims,
                   "{\"iss\":\"%s\",\"aud\":\"%s\",\"nbf\":%s,\"exp\":%s,\"oid\":\"%s\"}",
                   flaw == OF_OTHER_ISSUER ? "https://sts.windows.net/u/" : TOKEN_ISSUER, audience,
                   flaw == IS_EARLY ? "4070908800" : "1577836800",
                   flaw == IS_EXPIRED ? "1609459200" : "4102444800", roles_principal(principal));
    add_encoded(text, claims, strlen(claims));
}

/* Adds the signature of the text. rfc: 7518 3.4 */
static void add_signature(struct text *text, bool is_forged)
{
    const gnutls_datum_t x = { key_x, sizeof key_x }, y = { key_y, sizeof key_y },
                         k = { key_k, sizeof key_k };
    const gnutls_datum_t data = { (unsigned char *)text->ptr, (unsigned)text->len };
    gnutls_datum_t signature, r, s;
    gnutls_privkey_t key;
    unsigned char both[64] = { 0 };

    gnutls_privkey_init(&key);
    if (gnutls_privkey_import_ecc_raw(key, GNUTLS_ECC_CURVE_SECP256R1, &x, &y, &k) ||
        gnutls_privkey_sign_data2(key, GNUTLS_SIGN_ECDSA_SHA256, GNUTLS_PRIVKEY_FLAG_REPRODUCIBLE,
                                  &data, &signature) ||
        gnutls_decode_rs_value(&signature, &r, &s))
        world_fail("no token can be signed");
    /* Each may have a leading zero, or be shorter. */
    for (unsigned i = 0; i < 32 && i < r.size; i++)
        both[31 - i] = r.data[r.size - 1 - i];
    for (unsigned i = 0; i < 32 && i < s.size; i++)
        both[63 - i] = s.data[s.size - 1 - i];
    both[40] ^= is_forged;
    text_add_char(text, '.');
    add_encoded(text, both, sizeof both);
    gnutls_free(signature.data);
    gnutls_free(r.data);
    gnutls_free(s.data);
    gnutls_privkey_deinit(key);
}

static char *make_token(unsigned principal, enum flaw flaw)
{
    static const char header[] = "{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"1\"}",
                      none[] = "{\"alg\":\"none\"}";
    const char *used = flaw == IS_UNSIGNED ? none : header;
    struct arena *arena = arena_new(1 << 16);
    struct text text, signed_text;
    char *token;

    text_init(&text, arena, 1024);
    add_encoded(&text, used, strlen(used));
    text_add_char(&text, '.');
    text_init(&signed_text, arena, 1024);
    text_add(&signed_text, text_bytes(&text));
    add_claims(principal, flaw, &text);
    add_claims(flaw == IS_ALTERED ? principal % PRINCIPALS + 1 : principal, flaw, &signed_text);
    if (flaw == IS_UNSIGNED) {
        text_add_char(&text, '.');
    } else {
        size_t from = signed_text.len;

        add_signature(&signed_text, flaw == IS_FORGED);
        text_add(&text, bytes_of(signed_text.ptr + from, signed_text.len - from));
    }
    token = strndup(text.ptr, text.len);
    arena_free(arena);
    return token;
}

struct bytes roles_authorization(const struct ask *ask, struct arena *arena)
{
    static char *tokens[PRINCIPALS + 1][FLAWS];
    enum flaw flaw = (enum flaw)ask->flaw;
    char **token;

    if (flaw == IS_NOT_SECURE)
        flaw = NO_FLAW;
    token = &tokens[ask->token][flaw];
    if (!*token)
        *token = make_token(ask->token, flaw);
    return arena_printf(arena, "Bearer %s", *token);
}
