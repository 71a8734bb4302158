/* See encryption_scopes.h. A table by account and name, whose buckets only grow. Apart from the
 * scopes it has an entry for each account with one. */
#include "service/encryption_scopes.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "store/keyring.h"

#define BUCKETS         4096u
#define BOUND_ARENA_MAX 65536u

struct entry {
    _Atomic(struct entry *) next;
    struct bytes account, name; /* owned; constant. name: empty for the entry of an account */
    uint8_t wrapped[SCOPE_WRAPPED_SIZE]; /* constant */
    atomic_bool is_disabled;
    instant changed; /* under the lock */
};

struct encryption_scopes {
    const struct keyring *keys;
    _Atomic(struct entry *) buckets[BUCKETS];
    _Atomic size_t count; /* number of scopes */
    struct lock lock;     /* held while changing scopes */
};

struct encryption_scopes *encryption_scopes_new(void)
{
    struct encryption_scopes *scopes = xcalloc(1, sizeof *scopes);

    lock_init(&scopes->lock, RANK_ACCOUNTS);
    return scopes;
}

void encryption_scopes_set_keys(struct encryption_scopes *scopes, const struct keyring *keys)
{
    scopes->keys = keys;
}

static void entry_free(struct entry *entry)
{
    free((char *)(uintptr_t)entry->account.ptr);
    free((char *)(uintptr_t)entry->name.ptr);
    free(entry);
}

void encryption_scopes_free(struct encryption_scopes *scopes)
{
    if (!scopes)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        struct entry *entry = atomic_load(&scopes->buckets[i]);

        while (entry) {
            struct entry *next = atomic_load(&entry->next);

            entry_free(entry);
            entry = next;
        }
    }
    lock_destroy(&scopes->lock);
    free(scopes);
}

/* ---- lookup ---- */

static uint64_t hash_add(uint64_t hash, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 1099511628211u;
    return hash;
}

static size_t bucket_of(struct bytes account, struct bytes name)
{
    uint64_t hash = hash_add(14695981039346656037u, account);

    return hash_add(hash * 31, name) % BUCKETS;
}

static struct entry *find(const struct encryption_scopes *scopes, struct bytes account,
                          struct bytes name)
{
    struct entry *entry;

    if (!scopes || atomic_load_explicit(&scopes->count, memory_order_acquire) == 0)
        return NULL;
    entry = atomic_load_explicit(&scopes->buckets[bucket_of(account, name)], memory_order_acquire);
    while (entry && !(bytes_equal(entry->account, account) && bytes_equal(entry->name, name)))
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    return entry;
}

bool encryption_scopes_has(const struct encryption_scopes *scopes, struct bytes account)
{
    return find(scopes, account, bytes_of("", 0)) != NULL;
}

bool encryption_scopes_is_enabled(const struct encryption_scopes *scopes, struct bytes account,
                                  struct bytes name)
{
    const struct entry *entry = name.len > 0 ? find(scopes, account, name) : NULL;

    return entry && !atomic_load(&entry->is_disabled);
}

/* ---- keys ---- */

_Static_assert(SCOPE_WRAPPED_SIZE == WRAPPED_KEY_SIZE, "as the keyring wraps it");

/* Returns the associated data of a wrapped key: a key copied to another record is useless. */
static struct bytes bound_to(struct arena *arena, struct bytes account, struct bytes name)
{
    return arena_printf(arena, "encryption scope %.*s/%.*s", BYTES_ARG(account), BYTES_ARG(name));
}

enum error encryption_scopes_key(const struct encryption_scopes *scopes, struct bytes account,
                                 struct bytes name, struct arena *arena,
                                 const struct blob_key **ret_key)
{
    const struct entry *entry = name.len > 0 ? find(scopes, account, name) : NULL;
    struct blob_key *key;

    if (!entry || atomic_load(&entry->is_disabled))
        return E_EncryptionScopeNotAvailable;
    arena_hold_secret(arena);
    key = arena_alloc(arena, sizeof *key);
    if (!scopes->keys ||
        !keyring_unwrap(scopes->keys, entry->wrapped, bound_to(arena, account, name), key->key)) {
        log_line(LOG_ERROR, "the key of encryption scope %.*s of account %.*s cannot be unwrapped",
                 BYTES_ARG(name), BYTES_ARG(account));
        return E_EncryptionScopeNotAvailable;
    }
    key_hash(key->key, key->hash);
    data_salt_new(key->salt);
    key->scope = entry->name;
    *ret_key = key;
    return OK;
}

bool encryption_scopes_new_key(const struct encryption_scopes *scopes,
                               struct encryption_scope *scope)
{
    uint8_t key[DATA_KEY_SIZE];
    struct arena *arena;

    if (!scopes->keys)
        return false;
    arena = arena_new(BOUND_ARENA_MAX);
    data_key_new(key);
    keyring_wrap(scopes->keys, key, bound_to(arena, scope->account, scope->name), scope->wrapped);
    explicit_bzero(key, sizeof key);
    arena_free(arena);
    return true;
}

/* ---- changes, under the lock ---- */

static struct bytes copy_of(struct bytes text)
{
    return bytes_of(text.len > 0 ? memcpy(xmalloc(text.len), text.ptr, text.len) : NULL, text.len);
}

/* scope: NULL for the entry of an account */
static void add(struct encryption_scopes *scopes, struct bytes account,
                const struct encryption_scope *scope)
{
    struct bytes name = scope ? scope->name : bytes_of("", 0);
    _Atomic(struct entry *) *bucket = &scopes->buckets[bucket_of(account, name)];
    struct entry *entry = xcalloc(1, sizeof *entry);

    entry->account = copy_of(account);
    entry->name = copy_of(name);
    if (scope) {
        memcpy(entry->wrapped, scope->wrapped, sizeof entry->wrapped);
        atomic_store(&entry->is_disabled, scope->is_disabled);
        entry->changed = scope->changed;
    }
    atomic_store(&entry->next, atomic_load(bucket));
    atomic_store_explicit(bucket, entry, memory_order_release);
}

static void put(struct encryption_scopes *scopes, const struct encryption_scope *scope)
{
    struct entry *entry = find(scopes, scope->account, scope->name);

    lock_assert_held(&scopes->lock);
    assert(scope->account.len > 0 && scope->name.len > 0);
    if (entry && scope->changed >= entry->changed) {
        entry->changed = scope->changed;
        atomic_store(&entry->is_disabled, scope->is_disabled);
    }
    if (entry)
        return;
    if (!encryption_scopes_has(scopes, scope->account))
        add(scopes, scope->account, NULL);
    add(scopes, scope->account, scope);
    atomic_fetch_add(&scopes->count, 1);
}

void encryption_scopes_put(struct encryption_scopes *scopes, const struct encryption_scope *scope)
{
    lock_acquire(&scopes->lock);
    put(scopes, scope);
    lock_release(&scopes->lock);
}

bool encryption_scopes_are_full(const struct encryption_scopes *scopes)
{
    return atomic_load(&scopes->count) >= SCOPES_MAX;
}

/* ---- names ---- */

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool encryption_scope_name_is_valid(struct bytes name)
{
    bool was_letter = false;

    for (size_t i = 0; i < name.len; i++) {
        bool is_letter = is_alphanumeric(name.ptr[i]);

        if (!is_letter && (name.ptr[i] != '-' || !was_letter || i + 1 == name.len))
            return false;
        was_letter = is_letter;
    }
    return name.len >= SCOPE_NAME_MIN && name.len <= SCOPE_NAME_MAX;
}

struct bytes encryption_scope_of_name(struct bytes name)
{
    return bytes_is(name, ACCOUNT_SCOPE) ? bytes_of("", 0) : name;
}
