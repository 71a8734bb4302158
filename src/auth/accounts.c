/* Accounts and their keys. */
#include "auth/auth_private.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <nettle/hmac.h>
#include <nettle/md4.h>

#include "base/encode.h"

struct key {
    struct hmac_sha256_ctx hmac; /* keyed, nothing hashed yet: copied to be used */
    uint8_t nt_hash[NT_HASH_SIZE];
};

struct account {
    struct bytes name; /* owned */
    bool is_confined;  /* set at start alone */
    size_t key_count;
    struct key keys[ACCOUNT_KEYS_MAX];
};

struct list {
    struct account **accounts; /* few: searched from the front */
    size_t count;
    struct list *before; /* that it took the place of: requests may still hold its accounts */
};

struct accounts {
    _Atomic(struct list *) now; /* never NULL */
};

/* Room to decode one key; Azure's have 64 bytes. */
#define KEY_TEXT_MAX  1024
#define KEY_ARENA_MAX 65536

/* Published with every emulator of Azure Storage, so no secret. */
static const struct bytes development_account =
    BYTES(DEVELOPMENT_ACCOUNT ":Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6"
                              "tq/K1SZFPTOtr/KBHBeksoGMGw==");

/* ---- one account ---- */

static void account_free(struct account *account)
{
    explicit_bzero(account->keys, sizeof account->keys);
    free((char *)account->name.ptr);
    free(account);
}

static bool is_name(struct bytes name)
{
    static const struct bytes secondary = BYTES("-secondary");

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_'))
            return false;
    }
    return name.len > 0 && name.len <= ACCOUNT_NAME_MAX && !bytes_has_suffix(name, secondary);
}

/* MD4 of the text in UTF-16LE; each of its characters is one of ASCII, or was never base64.
 * ms-nlmp: 3.3.1 */
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

/* Makes the HMAC state and the NT hash of a key. Returns false when it has no base64 digit, or is too long. Keys of
 * emulators are often no strict base64 ("testing_key"); clients decode them leniently, as Azurite
 * does. decision: 34 */
static bool key_prepare(struct bytes text, struct key *ret_key)
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

/* "name:key1[:key2]". Returns NULL, and why, when it is not of that form. */
static struct account *account_new(struct bytes text, const char **ret_problem)
{
    struct account *account = xcalloc(1, sizeof *account);
    struct bytes name, keys, key;

    bytes_cut(text, ':', &name, &keys);
    *ret_problem = NULL;
    if (!is_name(name))
        *ret_problem =
            "an account's name is empty, too long, or has characters other than letters, "
            "digits, '-' and '_'";
    else if (!keys.ptr)
        *ret_problem = "an account has no key (the form is name:key1[:key2];...)";
    while (!*ret_problem && keys.ptr) {
        bytes_cut(keys, ':', &key, &keys);
        if (account->key_count == ACCOUNT_KEYS_MAX)
            *ret_problem = "an account has more than two keys";
        else if (!key_prepare(key, &account->keys[account->key_count++]))
            *ret_problem = "a key is empty, too long, or has no base64 digit";
    }
    if (*ret_problem) {
        account_free(account);
        return NULL;
    }
    account->name = bytes_of(memcpy(xmalloc(name.len), name.ptr, name.len), name.len);
    return account;
}

struct bytes account_name(const struct account *account)
{
    return account->name;
}

bool account_is_confined(const struct account *account)
{
    return account->is_confined;
}

/* `hmac`: keyed; a copy that is used up. */
static bool key_signed(struct hmac_sha256_ctx hmac, struct bytes text, struct bytes signature)
{
    uint8_t digest[SHA256_DIGEST_SIZE];

    hmac_sha256_update(&hmac, text.len, (const uint8_t *)text.ptr);
    hmac_sha256_digest(&hmac, sizeof digest, digest);
    return bytes_equal_secret(bytes_of(digest, sizeof digest), signature);
}

bool account_signed(const struct account *account, struct bytes text, struct bytes signature)
{
    bool is_signed = false;

    if (!account) {
        /* As much work as for an account with one key: the time does not tell that there is
         * none. */
        static const uint8_t no_key[SHA256_DIGEST_SIZE];
        struct hmac_sha256_ctx hmac;

        hmac_sha256_set_key(&hmac, sizeof no_key, no_key);
        return key_signed(hmac, text, signature) && false;
    }
    for (size_t i = 0; i < account->key_count; i++)
        is_signed |= key_signed(account->keys[i].hmac, text, signature);
    return is_signed;
}

size_t account_nt_hashes(const struct account *account,
                         uint8_t ret_hashes[ACCOUNT_KEYS_MAX][NT_HASH_SIZE])
{
    for (size_t i = 0; i < account->key_count; i++)
        memcpy(ret_hashes[i], account->keys[i].nt_hash, NT_HASH_SIZE);
    return account->key_count;
}

/* ---- user delegation keys ---- */

/* What is signed begins with a zero byte, which no request can have in what it signs: so no
 * signature of a request is ever this secret. */
static const char delegation_label[] = "\0user delegation key";

/* hmac: keyed with an account's key; a copy that is used up. */
static void derive(struct hmac_sha256_ctx hmac, struct bytes key_text, uint8_t *ret_value)
{
    uint8_t secret[SHA256_DIGEST_SIZE];

    hmac_sha256_update(&hmac, sizeof delegation_label, (const uint8_t *)delegation_label);
    hmac_sha256_digest(&hmac, sizeof secret, secret);
    hmac_sha256_set_key(&hmac, sizeof secret, secret);
    hmac_sha256_update(&hmac, key_text.len, (const uint8_t *)key_text.ptr);
    hmac_sha256_digest(&hmac, DELEGATION_KEY_SIZE, ret_value);
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
    derive(account->keys[0].hmac, delegation_text(arena, account->name, key), ret_value);
}

bool account_delegate_signed(const struct account *account, struct arena *arena,
                             const struct delegation_key *key, struct bytes text,
                             struct bytes signature)
{
    uint8_t value[DELEGATION_KEY_SIZE];
    struct hmac_sha256_ctx hmac;
    bool is_signed = false;

    if (!account)
        return account_signed(NULL, text, signature);
    for (size_t i = 0; i < account->key_count; i++) {
        derive(account->keys[i].hmac, delegation_text(arena, account->name, key), value);
        hmac_sha256_set_key(&hmac, sizeof value, value);
        is_signed |= key_signed(hmac, text, signature);
    }
    explicit_bzero(value, sizeof value);
    return is_signed;
}

/* ---- all of them ---- */

struct accounts *accounts_new(void)
{
    struct accounts *accounts = xcalloc(1, sizeof *accounts);

    atomic_init(&accounts->now, xcalloc(1, sizeof(struct list)));
    return accounts;
}

/* Removes all but the first `count`. */
static void remove_after(struct list *list, size_t count)
{
    while (list->count > count)
        account_free(list->accounts[--list->count]);
}

static void list_free(struct list *list)
{
    remove_after(list, 0);
    free(list->accounts);
    free(list);
}

void accounts_free(struct accounts *accounts)
{
    struct list *list, *before;

    if (!accounts)
        return;
    for (list = atomic_load(&accounts->now); list; list = before) {
        before = list->before;
        list_free(list);
    }
    free(accounts);
}

static const struct account *find_in(const struct list *list, struct bytes name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (bytes_equal(list->accounts[i]->name, name))
            return list->accounts[i];
    }
    return NULL;
}

static bool add(struct list *list, struct bytes text, const char **ret_problem)
{
    struct account *account = account_new(text, ret_problem);

    if (!account)
        return false;
    if (find_in(list, account->name)) {
        account_free(account);
        *ret_problem = "an account is named twice";
        return false;
    }
    list->accounts = xrealloc(list->accounts, (list->count + 1) * sizeof list->accounts[0]);
    list->accounts[list->count++] = account;
    return true;
}

void accounts_add_development(struct accounts *accounts)
{
    const char *problem;
    bool added = add(atomic_load(&accounts->now), development_account, &problem);

    assert(added);
}

void accounts_confine(struct accounts *accounts)
{
    struct list *list = atomic_load(&accounts->now);

    for (size_t i = 0; i < list->count; i++)
        list->accounts[i]->is_confined = true;
}

/* Entries end with a semicolon or a line; a line that begins with # is a comment. */
static bool add_all(struct list *list, struct bytes rest, const char **ret_problem)
{
    size_t before = list->count;
    struct bytes line, text;

    while (rest.len > 0) {
        bytes_cut(rest, '\n', &line, &rest);
        if (bytes_has_prefix(bytes_trim(line), bytes_from_string("#")))
            continue;
        while (line.len > 0) {
            bytes_cut(line, ';', &text, &line);
            text = bytes_trim(text);
            if (text.len > 0 && text.ptr[text.len - 1] == '\r')
                text.len--;
            if (text.len > 0 && !add(list, text, ret_problem)) {
                remove_after(list, before);
                return false;
            }
        }
    }
    if (list->count == before) {
        *ret_problem = "the list names no account (the form is name:key1[:key2];...)";
        return false;
    }
    return true;
}

bool accounts_add_list(struct accounts *accounts, const char *text, const char **ret_problem)
{
    return add_all(atomic_load(&accounts->now), bytes_from_string(text), ret_problem);
}

bool accounts_replace(struct accounts *accounts, const char *text, const char **ret_problem)
{
    struct list *list = xcalloc(1, sizeof *list);

    if (!add_all(list, bytes_from_string(text), ret_problem)) {
        list_free(list);
        return false;
    }
    list->before = atomic_load(&accounts->now);
    atomic_store(&accounts->now, list);
    return true;
}

const struct account *accounts_find(const struct accounts *accounts, struct bytes name)
{
    return find_in(atomic_load(&accounts->now), name);
}

const struct account *accounts_find_host(const struct accounts *accounts, struct bytes label)
{
    const struct list *list = atomic_load(&accounts->now);
    const struct account *account = find_in(list, label);

    for (size_t i = 0; i < list->count && !account; i++) {
        if (bytes_equal_nocase(list->accounts[i]->name, label))
            account = list->accounts[i];
    }
    return account;
}
