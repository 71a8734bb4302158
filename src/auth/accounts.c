/* Accounts and their keys. */
#include "auth/auth_private.h"

#include <assert.h>
#include <stdlib.h>

#include <nettle/hmac.h>

#include "base/encode.h"

struct account {
    struct bytes name; /* owned */
    size_t key_count;
    struct hmac_sha256_ctx
        keys[ACCOUNT_KEYS_MAX]; /* keyed, nothing hashed yet: copied to be used */
};

struct accounts {
    struct account **list; /* few: searched from the front */
    size_t count;
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

/* Makes the HMAC state of a key. Returns false when it has no base64 digit, or is too long. Keys of
 * emulators are often no strict base64 ("testing_key"); clients decode them leniently, as Azurite
 * does. decision: 34 */
static bool key_prepare(struct bytes text, struct hmac_sha256_ctx *ret_key)
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
        hmac_sha256_set_key(ret_key, key.len, (const uint8_t *)key.ptr);
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
        /* As much work as for an account with one key: the time does not tell that there is none. */
        static const uint8_t no_key[SHA256_DIGEST_SIZE];
        struct hmac_sha256_ctx hmac;

        hmac_sha256_set_key(&hmac, sizeof no_key, no_key);
        return key_signed(hmac, text, signature) && false;
    }
    for (size_t i = 0; i < account->key_count; i++)
        is_signed |= key_signed(account->keys[i], text, signature);
    return is_signed;
}

/* ---- all of them ---- */

struct accounts *accounts_new(void)
{
    return xcalloc(1, sizeof(struct accounts));
}

/* Removes all but the first `count`. */
static void remove_after(struct accounts *accounts, size_t count)
{
    while (accounts->count > count)
        account_free(accounts->list[--accounts->count]);
}

void accounts_free(struct accounts *accounts)
{
    if (!accounts)
        return;
    remove_after(accounts, 0);
    free(accounts->list);
    free(accounts);
}

static bool add(struct accounts *accounts, struct bytes text, const char **ret_problem)
{
    struct account *account = account_new(text, ret_problem);

    if (!account)
        return false;
    if (accounts_find(accounts, account->name)) {
        account_free(account);
        *ret_problem = "an account is named twice";
        return false;
    }
    accounts->list = xrealloc(accounts->list, (accounts->count + 1) * sizeof accounts->list[0]);
    accounts->list[accounts->count++] = account;
    return true;
}

void accounts_add_development(struct accounts *accounts)
{
    const char *problem;
    bool added = add(accounts, development_account, &problem);

    assert(added);
}

bool accounts_add_list(struct accounts *accounts, const char *list, const char **ret_problem)
{
    size_t before = accounts->count;
    struct bytes rest = bytes_from_string(list);
    struct bytes text;

    while (rest.len > 0) {
        bytes_cut(rest, ';', &text, &rest);
        text = bytes_trim(text);
        if (text.len > 0 && !add(accounts, text, ret_problem)) {
            remove_after(accounts, before);
            return false;
        }
    }
    if (accounts->count == before) {
        *ret_problem = "the list names no account (the form is name:key1[:key2];...)";
        return false;
    }
    return true;
}

const struct account *accounts_find(const struct accounts *accounts, struct bytes name)
{
    for (size_t i = 0; i < accounts->count; i++) {
        if (bytes_equal(accounts->list[i]->name, name))
            return accounts->list[i];
    }
    return NULL;
}

const struct account *accounts_find_host(const struct accounts *accounts, struct bytes label)
{
    const struct account *account = accounts_find(accounts, label);

    for (size_t i = 0; i < accounts->count && !account; i++) {
        if (bytes_equal_nocase(accounts->list[i]->name, label))
            account = accounts->list[i];
    }
    return account;
}
