/* Public keys of a JSON Web Key Set, and verification of signatures. rfc: 7518 3 and 6 */
#include "auth/trust_private.h"

#include <stdlib.h>

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>

#include "base/encode.h"

#define KEYS_MAX          64
/* Larger keys cost too much per request: 16384 bits take 16 times as long as 4096. */
#define RSA_BITS_MIN      2048
#define RSA_BITS_MAX      8192
/* Usually 65537. With an exponent of 1, any text would be its own signature. */
#define EXPONENT_BITS_MAX 64
/* A key may contain a certificate chain. */
#define KEY_DEPTH         8

static const struct algorithm {
    const char *name;  /* alg */
    const char *kind;  /* kty */
    const char *curve; /* crv; NULL for RSA */
    gnutls_ecc_curve_t ecc;
    gnutls_sign_algorithm_t sign;
    size_t half; /* size of r and of s in a signature */
} algorithms[] = {
    { "RS256", "RSA", NULL, GNUTLS_ECC_CURVE_INVALID, GNUTLS_SIGN_RSA_SHA256, 0 },
    { "RS384", "RSA", NULL, GNUTLS_ECC_CURVE_INVALID, GNUTLS_SIGN_RSA_SHA384, 0 },
    { "RS512", "RSA", NULL, GNUTLS_ECC_CURVE_INVALID, GNUTLS_SIGN_RSA_SHA512, 0 },
    { "ES256", "EC", "P-256", GNUTLS_ECC_CURVE_SECP256R1, GNUTLS_SIGN_ECDSA_SHA256, 32 },
    { "ES384", "EC", "P-384", GNUTLS_ECC_CURVE_SECP384R1, GNUTLS_SIGN_ECDSA_SHA384, 48 },
    { "ES512", "EC", "P-521", GNUTLS_ECC_CURVE_SECP521R1, GNUTLS_SIGN_ECDSA_SHA512, 66 },
};
#define ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

struct key {
    gnutls_pubkey_t public;
    struct bytes kid, alg; /* owned; ptr NULL if absent */
    bool fits[ALGORITHMS];
};

struct key_set {
    struct key keys[KEYS_MAX];
    size_t count;
};

/* ---- parsing ---- */

static struct bytes own(struct bytes text)
{
    return text.ptr ? bytes_of(memcpy(xmalloc(text.len), text.ptr, text.len), text.len) : text;
}

/* The members of a key that are used. rfc: 7517 4, 7518 6 */
enum { KTY, USE, ALG, KID, CRV, N, E, X, Y, MEMBERS };
static const char *const members[MEMBERS] = {
    "kty", "use", "alg", "kid", "crv", "n", "e", "x", "y"
};

/* Decodes a base64url number for GnuTLS. */
static bool read_number(struct arena *arena, const struct json_member *json,
                        gnutls_datum_t *ret_number)
{
    struct bytes text = json_text(json);
    struct bytes number = text.ptr ? base64url_decode(arena, text) : text;

    *ret_number = (gnutls_datum_t){ (unsigned char *)(uintptr_t)number.ptr, (unsigned)number.len };
    return number.ptr;
}

/* Returns the length in bits without leading zeros. */
static size_t bits_of(gnutls_datum_t number)
{
    while (number.size > 0 && number.data[0] == 0) {
        number.data++;
        number.size--;
    }
    return number.size > 0 ? 8 * (size_t)number.size - (size_t)__builtin_clz(number.data[0]) + 24
                           : 0;
}

/* Checks that the exponent is odd and greater than 1. */
static bool is_exponent(gnutls_datum_t number)
{
    size_t bits = bits_of(number);

    return bits > 1 && bits <= EXPONENT_BITS_MAX && number.data[number.size - 1] % 2 == 1;
}

static bool import_rsa(gnutls_pubkey_t to, const struct json_member *json, struct arena *arena)
{
    gnutls_datum_t modulus, exponent;

    return read_number(arena, &json[N], &modulus) && read_number(arena, &json[E], &exponent) &&
           bits_of(modulus) >= RSA_BITS_MIN && bits_of(modulus) <= RSA_BITS_MAX &&
           is_exponent(exponent) && gnutls_pubkey_import_rsa_raw(to, &modulus, &exponent) == 0;
}

static bool import_ecc(gnutls_pubkey_t to, const struct json_member *json,
                       const struct algorithm *algorithm, struct arena *arena)
{
    gnutls_datum_t x, y;

    return read_number(arena, &json[X], &x) && read_number(arena, &json[Y], &y) &&
           x.size <= algorithm->half && y.size <= algorithm->half &&
           gnutls_pubkey_import_ecc_raw(to, algorithm->ecc, &x, &y) == 0 &&
           gnutls_pubkey_verify_params(to) == 0; /* point is on the curve */
}

/* Sets key->fits according to the kind of key. Returns false if its kind or algorithm is not
 * supported or the key is malformed. */
static bool import_key(struct key *key, const struct json_member *json, struct arena *arena)
{
    struct bytes kind = json_text(&json[KTY]), curve = json_text(&json[CRV]);
    bool imported = false, fits_any = false;

    for (size_t i = 0; i < ALGORITHMS; i++) {
        const struct algorithm *one = &algorithms[i];

        if (!bytes_is(kind, one->kind) || (one->curve && !bytes_is(curve, one->curve)))
            continue;
        if (!imported && !(one->curve ? import_ecc(key->public, json, one, arena)
                                      : import_rsa(key->public, json, arena)))
            return false;
        imported = true;
        key->fits[i] = !key->alg.ptr || bytes_is(key->alg, one->name);
        fits_any |= key->fits[i];
    }
    return fits_any;
}

static void add_key(struct key_set *set, struct bytes text, struct arena *arena)
{
    struct json_member json[MEMBERS];
    struct bytes use;
    struct key key;

    if (!json_object_pick(arena, text, KEY_DEPTH, members, MEMBERS, json))
        return;
    use = json_text(&json[USE]);
    if (use.ptr && !bytes_is(use, "sig"))
        return;
    key = (struct key){ .kid = json_text(&json[KID]), .alg = json_text(&json[ALG]) };
    if (gnutls_pubkey_init(&key.public) != 0)
        return;
    if (!import_key(&key, json, arena)) {
        gnutls_pubkey_deinit(key.public);
        return;
    }
    key.kid = own(key.kid);
    key.alg = own(key.alg);
    set->keys[set->count++] = key;
}

/* Returns false if the text is not a list of at most KEYS_MAX keys. */
static bool add_keys(struct key_set *set, struct bytes text, struct arena *arena)
{
    static const char *const names[] = { "keys" };
    struct json_member list, key;
    struct json_reader keys;
    size_t count = 0;

    if (!json_object_pick(arena, text, KEY_DEPTH + 2, names, 1, &list) || list.kind != JSON_LIST)
        return false;
    json_list_init(&keys, arena, list.text, KEY_DEPTH + 1);
    while (json_next(&keys, &key)) {
        if (++count > KEYS_MAX)
            return false;
        if (key.kind == JSON_OBJECT)
            add_key(set, key.text, arena);
    }
    return true;
}

struct key_set *key_set_new(struct bytes text, struct trust_problem *ret_problem)
{
    struct key_set *set = xcalloc(1, sizeof *set);
    struct arena *arena = arena_new(2 * json_memory_max(text));

    ret_problem->text[0] = '\0';
    if (!add_keys(set, text, arena))
        trust_problem_set(ret_problem, "--oauthKeys: not a JSON Web Key Set of at most 64 keys");
    else if (set->count == 0)
        trust_problem_set(
            ret_problem,
            "--oauthKeys: no usable signature key (RSA of 2048 to 8192 bits, P-256, P-384, P-521)");
    arena_free(arena);
    if (!ret_problem->text[0])
        return set;
    key_set_free(set);
    return NULL;
}

void key_set_free(struct key_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++) {
        gnutls_pubkey_deinit(set->keys[i].public);
        free((char *)set->keys[i].kid.ptr);
        free((char *)set->keys[i].alg.ptr);
    }
    free(set);
}

/* ---- verifying ---- */

/* Converts an ECDSA signature from r and s concatenated, as in a token, to DER for GnuTLS. */
static bool verify(gnutls_pubkey_t key, const struct algorithm *algorithm, struct bytes text,
                   struct bytes signature)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)signature.ptr;
    const gnutls_datum_t data = { (unsigned char *)(uintptr_t)text.ptr, (unsigned)text.len };
    gnutls_datum_t encoded = { bytes, (unsigned)signature.len };
    const gnutls_datum_t r = { bytes, (unsigned)algorithm->half };
    const gnutls_datum_t s = { bytes + algorithm->half, (unsigned)algorithm->half };
    bool is_good;

    if (algorithm->half == 0)
        return gnutls_pubkey_verify_data2(key, algorithm->sign, 0, &data, &encoded) >= 0;
    if (signature.len != 2 * algorithm->half || gnutls_encode_rs_value(&encoded, &r, &s) != 0)
        return false;
    is_good = gnutls_pubkey_verify_data2(key, algorithm->sign, 0, &data, &encoded) >= 0;
    gnutls_free(encoded.data);
    return is_good;
}

bool key_set_signed(const struct key_set *set, struct bytes alg, struct bytes kid,
                    struct bytes text, struct bytes signature)
{
    for (size_t a = 0; a < ALGORITHMS; a++) {
        if (!bytes_is(alg, algorithms[a].name))
            continue;
        for (size_t i = 0; i < set->count; i++) {
            const struct key *key = &set->keys[i];

            if (key->fits[a] && (!kid.ptr || !key->kid.ptr || bytes_equal(kid, key->kid)) &&
                verify(key->public, &algorithms[a], text, signature))
                return true;
        }
    }
    return false;
}
