/* One account: its keys, signing with them, and replacing them while in use. See account.h. */
#include "auth/account.h"

#include <assert.h>
#include <stdlib.h>

#include <nettle/md4.h>

#include "auth/auth_private.h"
#include "base/encode.h"

/* Buffer for decoding one key; Azure's keys have 64 bytes. */
#define KEY_TEXT_MAX  1024
#define KEY_ARENA_MAX 65536

struct account *account_new(struct bytes name)
{
    struct account *account = xcalloc(1, sizeof *account);

    account->meter = xcalloc(1, sizeof *account->meter);
    account->name = bytes_of(memcpy(xmalloc(name.len), name.ptr, name.len), name.len);
    return account;
}

void account_free(struct account *account)
{
    explicit_bzero((void *)(uintptr_t)account->keys, sizeof account->keys);
    free((char *)account->name.ptr);
    free(account->meter);
    free(account);
}

struct bytes account_name(const struct account *account)
{
    return account->name;
}

/* ---- state ---- */

void account_set_standing(struct account *account, enum account_source source, unsigned standing)
{
    atomic_store_explicit(&account->standing, standing | (unsigned)source << STANDING_SOURCE,
                          memory_order_release);
}

unsigned account_standing(const struct account *account)
{
    return atomic_load_explicit(&account->standing, memory_order_acquire);
}

bool account_is_present(const struct account *account)
{
    return account_standing(account) & STANDING_PRESENT;
}

bool account_is_disabled(const struct account *account)
{
    return account && account_standing(account) & STANDING_DISABLED;
}

bool account_refuses_keys(const struct account *account)
{
    return account && account_standing(account) & (STANDING_DISABLED | STANDING_NO_SHARED_KEY);
}

void account_confine(struct account *account)
{
    atomic_fetch_or(&account->standing, STANDING_CONFINED);
}

bool account_is_confined(const struct account *account)
{
    return account_standing(account) & STANDING_CONFINED;
}

enum account_source account_source(const struct account *account)
{
    return (enum account_source)(account_standing(account) >> STANDING_SOURCE);
}

bool account_is_hierarchical(const struct account *account)
{
    return account && atomic_load_explicit(&account->meter->is_hierarchical, memory_order_relaxed);
}

void account_set_hierarchical(const struct account *account, bool is_hierarchical)
{
    atomic_store(&account->meter->is_hierarchical, is_hierarchical);
}

/* ---- keys ---- */

/* Computes MD4 of the text in UTF-16LE; each of its characters is ASCII, otherwise it is not
 * base64. ms-nlmp: 3.3.1 */
static void nt_hash(struct bytes text, uint8_t ret_hash[NT_HASH_SIZE])
{
    struct md4_ctx md4;
    uint8_t unit[2] = { 0 };

    md4_init(&md4);
    for (size_t i = 0; i < text.len; i++) {
        unit[0] = (uint8_t)text.ptr[i];
        md4_update(&md4, sizeof unit, unit);
    }
    md4_digest(&md4, NT_HASH_SIZE, ret_hash);
    explicit_bzero(&md4, sizeof md4);
}

bool key_prepare(struct bytes text, struct key *ret_key)
{
    struct arena *arena;
    struct bytes key;
    bool is_key;

    if (text.len == 0 || text.len > KEY_TEXT_MAX)
        return false;
    arena = arena_new(KEY_ARENA_MAX);
    key = base64_decode_lenient(arena, text);
    is_key = key.len > 0;
    if (is_key) {
        hmac_sha256_set_key(&ret_key->hmac, key.len, (const uint8_t *)key.ptr);
        nt_hash(text, ret_key->nt_hash);
        explicit_bzero((char *)key.ptr, key.len);
    }
    arena_free(arena);
    return is_key;
}

/* The words are stored with release and loaded with acquire. They overwrite keys that were replaced
 * one change earlier, so a reader that loads one of them also sees that the sequence has advanced,
 * and reads again. */
void account_set_keys(struct account *account, const struct keys *keys)
{
    unsigned next = atomic_load_explicit(&account->sequence, memory_order_relaxed) + 1;
    uint64_t words[KEYS_WORDS];

    assert(keys->count > 0 && keys->count <= ACCOUNT_KEYS_MAX);
    memcpy(words, keys, sizeof words);
    for (size_t i = 0; i < KEYS_WORDS; i++)
        atomic_store_explicit(&account->keys[next & 1][i], words[i], memory_order_release);
    atomic_store_explicit(&account->sequence, next, memory_order_release);
    explicit_bzero(words, sizeof words);
}

/* Returns the size of the keys that are present. */
static size_t size_of(const struct keys *keys)
{
    assert(keys->count <= ACCOUNT_KEYS_MAX);
    return offsetof(struct keys, of) + keys->count * sizeof keys->of[0];
}

/* Copies the keys that are present; the caller may modify the copy and must drop it. */
static void take_keys(const struct account *account, struct keys *ret_keys)
{
    unsigned sequence = atomic_load_explicit(&account->sequence, memory_order_acquire), before;
    char *to = (char *)ret_keys;

    do {
        const _Atomic uint64_t *from = account->keys[sequence & 1];
        size_t words;

        before = sequence;
        ret_keys->count = atomic_load_explicit(&from[0], memory_order_acquire);
        words = size_of(ret_keys) / sizeof from[0];
        for (size_t i = 1; i < words; i++) {
            uint64_t word = atomic_load_explicit(&from[i], memory_order_acquire);

            memcpy(to + i * sizeof word, &word, sizeof word);
        }
        sequence = atomic_load_explicit(&account->sequence, memory_order_acquire);
    } while (sequence != before);
}

static void drop_keys(struct keys *keys)
{
    explicit_bzero(keys, size_of(keys));
}

size_t account_key_count(const struct account *account)
{
    struct keys keys;
    size_t count;

    take_keys(account, &keys);
    count = keys.count;
    drop_keys(&keys);
    return count;
}

size_t account_nt_hashes(const struct account *account,
                         uint8_t ret_hashes[ACCOUNT_KEYS_MAX][NT_HASH_SIZE])
{
    struct keys keys;
    size_t count;

    take_keys(account, &keys);
    count = keys.count;
    for (size_t i = 0; i < count; i++)
        memcpy(ret_hashes[i], keys.of[i].nt_hash, NT_HASH_SIZE);
    drop_keys(&keys);
    return count;
}

/* ---- signatures ---- */

/* hmac: keyed; consumed. */
static void sign(struct hmac_sha256_ctx *hmac, struct bytes text,
                 uint8_t ret_digest[SHA256_DIGEST_SIZE])
{
    hmac_sha256_update(hmac, text.len, (const uint8_t *)text.ptr);
    hmac_sha256_digest(hmac, SHA256_DIGEST_SIZE, ret_digest);
}

/* hmac: keyed; consumed. */
static bool key_signed(struct hmac_sha256_ctx *hmac, struct bytes text, struct bytes signature)
{
    uint8_t digest[SHA256_DIGEST_SIZE];

    sign(hmac, text, digest);
    return bytes_equal_secret(bytes_of(digest, sizeof digest), signature);
}

_Static_assert(ACCOUNT_SIGNATURE_SIZE == SHA256_DIGEST_SIZE, "HMAC-SHA256");

bool account_sign(const struct account *account, size_t key, struct bytes text,
                  uint8_t ret_signature[ACCOUNT_SIGNATURE_SIZE])
{
    struct keys keys;
    bool has_key;

    take_keys(account, &keys);
    has_key = key < keys.count;
    if (has_key)
        sign(&keys.of[key].hmac, text, ret_signature);
    drop_keys(&keys);
    return has_key;
}

bool account_signed(const struct account *account, struct bytes text, struct bytes signature)
{
    bool is_signed = false;
    struct keys keys;

    if (!account) {
        /* Do as much work as for an account with one key, so that the response time does not reveal
         * that the account does not exist. */
        static const uint8_t no_key[SHA256_DIGEST_SIZE];
        struct hmac_sha256_ctx hmac;

        hmac_sha256_set_key(&hmac, sizeof no_key, no_key);
        return key_signed(&hmac, text, signature) && false;
    }
    take_keys(account, &keys);
    for (size_t i = 0; i < keys.count; i++)
        is_signed |= key_signed(&keys.of[i].hmac, text, signature);
    drop_keys(&keys);
    return is_signed;
}

/* The text that is signed to compare two keys; no request signs a text with this prefix. */
static const char comparison_label[] = "\0the same key";

bool account_find_key(const struct account *account, struct bytes text, size_t *ret_key)
{
    static const uint8_t no_key[SHA256_DIGEST_SIZE];
    const struct bytes label = bytes_of(comparison_label, sizeof comparison_label);
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct keys keys = { .count = 1 };
    struct key given;
    bool found = false;

    if (!key_prepare(text, &given))
        return false;
    sign(&given.hmac, label, digest);
    /* Without an account, do as much work as with one, so that the time does not reveal it. */
    hmac_sha256_set_key(&keys.of[0].hmac, sizeof no_key, no_key);
    if (account)
        take_keys(account, &keys);
    for (size_t i = 0; i < keys.count; i++) {
        bool is_same = key_signed(&keys.of[i].hmac, label, bytes_of(digest, sizeof digest));

        if (is_same && account && !found)
            *ret_key = i;
        found |= is_same && account;
    }
    drop_keys(&keys);
    explicit_bzero(&given, sizeof given);
    explicit_bzero(digest, sizeof digest);
    return found;
}

/* ---- user delegation keys ---- */

/* The signed text starts with a zero byte, which is impossible in a request's string to sign, so no
 * signature of a request can equal this secret. */
static const char delegation_label[] = "\0user delegation key";

/* hmac: keyed with an account's key; consumed. */
static void derive(struct hmac_sha256_ctx *hmac, struct bytes key_text, uint8_t *ret_value)
{
    uint8_t secret[SHA256_DIGEST_SIZE];

    hmac_sha256_update(hmac, sizeof delegation_label, (const uint8_t *)delegation_label);
    hmac_sha256_digest(hmac, sizeof secret, secret);
    hmac_sha256_set_key(hmac, sizeof secret, secret);
    hmac_sha256_update(hmac, key_text.len, (const uint8_t *)key_text.ptr);
    hmac_sha256_digest(hmac, DELEGATION_KEY_SIZE, ret_value);
    explicit_bzero(secret, sizeof secret);
}

static struct bytes delegation_text(struct arena *arena, struct bytes account,
                                    const struct delegation_key *key)
{
    return arena_printf(arena, "%.*s\n%.*s\n%.*s\n%llu\n%llu\n%.*s\n%.*s\n%.*s", BYTES_ARG(account),
                        BYTES_ARG(key->oid), BYTES_ARG(key->tid),
                        (unsigned long long)instant_seconds(key->start),
                        (unsigned long long)instant_seconds(key->expiry), BYTES_ARG(key->service),
                        BYTES_ARG(key->version), BYTES_ARG(key->user_tid));
}

void account_delegation_key(const struct account *account, struct arena *arena,
                            const struct delegation_key *key,
                            uint8_t ret_value[DELEGATION_KEY_SIZE])
{
    struct keys keys;

    take_keys(account, &keys);
    derive(&keys.of[0].hmac, delegation_text(arena, account->name, key), ret_value);
    drop_keys(&keys);
}

bool account_delegate_signed(const struct account *account, struct arena *arena,
                             const struct delegation_key *key, struct bytes text,
                             struct bytes signature)
{
    uint8_t value[DELEGATION_KEY_SIZE];
    struct hmac_sha256_ctx hmac;
    bool is_signed = false;
    struct keys keys;

    if (!account)
        return account_signed(NULL, text, signature);
    take_keys(account, &keys);
    for (size_t i = 0; i < keys.count; i++) {
        derive(&keys.of[i].hmac, delegation_text(arena, account->name, key), value);
        hmac_sha256_set_key(&hmac, sizeof value, value);
        is_signed |= key_signed(&hmac, text, signature);
    }
    drop_keys(&keys);
    explicit_bzero(value, sizeof value);
    return is_signed;
}
