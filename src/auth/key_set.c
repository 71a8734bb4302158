/* Public keys of a JSON Web Key Set, and signatures made with them. rfc: 7518 3 and 6 */
#include "auth/trust_private.h"

#include <stdlib.h>

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>

#include "base/encode.h"

#define KEYS_MAX     64
#define RSA_BITS_MIN 2048
#define ARENA_MAX    (1u << 20)

static const struct algorithm {
    const char *name;  /* alg */
    const char *kind;  /* kty */
    const char *curve; /* crv; NULL: of RSA */
    gnutls_ecc_curve_t ecc;
    gnutls_sign_algorithm_t sign;
    size_t half; /* bytes of r and of s in a signature */
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
    struct bytes kid, alg; /* owned; ptr NULL: not said */
    bool fits[ALGORITHMS];
};

struct key_set {
    struct key keys[KEYS_MAX];
    size_t count;
};

/* ---- reading ---- */

static struct bytes own(struct bytes text)
{
    return text.ptr ? bytes_of(memcpy(xmalloc(text.len), text.ptr, text.len), text.len) : text;
}

/* A number in base64url, as GnuTLS takes it. */
static bool read_number(struct arena *arena, const json_t *json, const char *name,
                        gnutls_datum_t *ret_number)
{
    struct bytes text = json_text(json, name);
    struct bytes number = text.ptr ? base64url_decode(arena, text) : text;

    *ret_number = (gnutls_datum_t){ (unsigned char *)(uintptr_t)number.ptr, (unsigned)number.len };
    return number.ptr;
}

static bool import_rsa(gnutls_pubkey_t to, const json_t *json, struct arena *arena)
{
    gnutls_datum_t modulus, exponent;
    unsigned bits = 0;

    return read_number(arena, json, "n", &modulus) && read_number(arena, json, "e", &exponent) &&
           gnutls_pubkey_import_rsa_raw(to, &modulus, &exponent) == 0 &&
           gnutls_pubkey_get_pk_algorithm(to, &bits) == GNUTLS_PK_RSA && bits >= RSA_BITS_MIN;
}

static bool import_ecc(gnutls_pubkey_t to, const json_t *json, gnutls_ecc_curve_t curve,
                       struct arena *arena)
{
    gnutls_datum_t x, y;

    return read_number(arena, json, "x", &x) && read_number(arena, json, "y", &y) &&
           gnutls_pubkey_import_ecc_raw(to, curve, &x, &y) == 0;
}

/* Fills key->fits by the kind of key. Returns false for one of another kind, or a broken one. */
static bool import_key(struct key *key, const json_t *json, struct arena *arena)
{
    struct bytes kind = json_text(json, "kty"), curve = json_text(json, "crv");
    bool imported = false;

    for (size_t i = 0; i < ALGORITHMS; i++) {
        const struct algorithm *one = &algorithms[i];

        if (!bytes_is(kind, one->kind) || (one->curve && !bytes_is(curve, one->curve)))
            continue;
        if (!imported && !(one->curve ? import_ecc(key->public, json, one->ecc, arena)
                                      : import_rsa(key->public, json, arena)))
            return false;
        imported = true;
        key->fits[i] = !key->alg.ptr || bytes_is(key->alg, one->name);
    }
    return imported;
}

static bool add_key(struct key_set *set, const json_t *json, struct arena *arena)
{
    struct key key = { .kid = json_text(json, "kid"), .alg = json_text(json, "alg") };
    struct bytes use = json_text(json, "use");

    if ((use.ptr && !bytes_is(use, "sig")) || set->count == KEYS_MAX)
        return false;
    if (gnutls_pubkey_init(&key.public) != 0)
        return false;
    if (!import_key(&key, json, arena)) {
        gnutls_pubkey_deinit(key.public);
        return false;
    }
    key.kid = own(key.kid);
    key.alg = own(key.alg);
    set->keys[set->count++] = key;
    return true;
}

struct key_set *key_set_new(struct bytes text, const char **ret_problem)
{
    json_t *json = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *list = json_object_get(json, "keys");
    struct key_set *set = xcalloc(1, sizeof *set);
    struct arena *arena = arena_new(ARENA_MAX);

    *ret_problem = NULL;
    if (!json_is_array(list) || json_array_size(list) > KEYS_MAX)
        *ret_problem = "it is no JSON Web Key Set of at most 64 keys";
    for (size_t i = 0; !*ret_problem && i < json_array_size(list); i++)
        add_key(set, json_array_get(list, i), arena);
    if (!*ret_problem && set->count == 0)
        *ret_problem = "it has no key for signatures (RSA of 2048 bits or more, P-256, P-384, "
                       "P-521)";
    json_decref(json);
    arena_free(arena);
    if (!*ret_problem)
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

/* A token has r and s of an ECDSA signature one after the other; GnuTLS takes them in DER. */
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
