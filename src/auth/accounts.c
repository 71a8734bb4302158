/* The set of accounts: found by name without a lock, changed one at a time. */
#include <assert.h>
#include <stdlib.h>

#include "auth/account.h"
#include "base/endian.h"
#include "base/lock.h"

#define BUCKET_BITS 10
#define BUCKETS     (1u << BUCKET_BITS)

struct accounts {
    _Atomic(struct account *) buckets[BUCKETS]; /* by name in lower case; only grow */
    struct lock lock;                           /* held while changing accounts */
    size_t count; /* under the lock, as is `lists`; includes accounts that are not present */
    uint64_t lists;
    struct account_limits limits;     /* of accounts without their own */
    struct reservation *reservations; /* under the lock */
};

/* A name that is about to be added to the store. */
struct reservation {
    struct reservation *next;
    size_t count;
    size_t length;
    char name[];
};

/* An entry of a list, before the list takes effect. */
struct entry {
    struct bytes name;
    struct keys keys;
    struct account *account;
};
struct list {
    struct entry *entries;
    size_t count, capacity;
};

/* Published with every emulator of Azure Storage, so not a secret. */
static const struct bytes development_account =
    BYTES(DEVELOPMENT_ACCOUNT ":Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6"
                              "tq/K1SZFPTOtr/KBHBeksoGMGw==");

struct accounts *accounts_new(void)
{
    struct accounts *accounts = xcalloc(1, sizeof *accounts);

    lock_init(&accounts->lock, RANK_ACCOUNTS);
    return accounts;
}

void accounts_free(struct accounts *accounts)
{
    struct account *account, *next;

    if (!accounts)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (account = atomic_load(&accounts->buckets[i]); account; account = next) {
            next = atomic_load(&account->next);
            account_free(account);
        }
    for (struct reservation *each = accounts->reservations, *behind; each; each = behind) {
        behind = each->next;
        free(each);
    }
    lock_destroy(&accounts->lock);
    free(accounts);
}

void accounts_set_limits(struct accounts *accounts, const struct account_limits *limits)
{
    assert(accounts->count == 0);
    accounts->limits = *limits;
}

/* ---- lookup ---- */

/* Returns up to eight bytes, padded with zeros. */
static uint64_t first_word(struct bytes text)
{
    char word[8] = { 0 };

    if (text.len >= sizeof word)
        return le64_get(text.ptr);
    if (text.len > 0)
        memcpy(word, text.ptr, text.len);
    return le64_get(word);
}

/* Hashes names that differ only in case to the same bucket, by setting the lower-case bit in every
 * byte. Other characters that this makes equal ('@' and '`') just share a bucket. */
static size_t bucket_of(struct bytes name)
{
    uint64_t hash = 0;

    for (; name.len > 0; name = bytes_from(name, 8))
        hash = (hash ^ (first_word(name) | 0x2020202020202020u)) * 0x9E3779B97F4A7C15u;
    return hash >> (64 - BUCKET_BITS);
}

static struct account *first_of(const struct accounts *accounts, struct bytes name)
{
    return atomic_load_explicit(&accounts->buckets[bucket_of(name)], memory_order_acquire);
}

static struct account *next_of(const struct account *account)
{
    return atomic_load_explicit(&account->next, memory_order_acquire);
}

/* Returns an account whether present or not. */
static struct account *find_any(const struct accounts *accounts, struct bytes name)
{
    struct account *account = first_of(accounts, name);

    while (account && !bytes_equal(account->name, name))
        account = next_of(account);
    return account;
}

const struct account *accounts_find(const struct accounts *accounts, struct bytes name)
{
    const struct account *account = find_any(accounts, name);

    return account && account_is_present(account) ? account : NULL;
}

const struct account *accounts_find_host(const struct accounts *accounts, struct bytes label)
{
    const struct account *found = accounts_find(accounts, label);

    for (const struct account *account = first_of(accounts, label); account && !found;
         account = next_of(account))
        if (account_is_present(account) && bytes_equal_nocase(account->name, label))
            found = account;
    return found;
}

void accounts_each(const struct accounts *accounts,
                   void (*found)(const struct account *account, void *context), void *context)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct account *account =
                 atomic_load_explicit(&accounts->buckets[i], memory_order_acquire);
             account; account = next_of(account))
            if (account_is_present(account))
                found(account, context);
}

struct counted {
    const struct account *last;
    size_t count;
};

static void count_one(const struct account *account, void *context)
{
    struct counted *counted = context;

    counted->last = account;
    counted->count++;
}

const struct account *accounts_only(const struct accounts *accounts, size_t *ret_count)
{
    struct counted counted = { .count = 0 };

    accounts_each(accounts, count_one, &counted);
    *ret_count = counted.count;
    return counted.count == 1 ? counted.last : NULL;
}

/* ---- adding, called under the lock ---- */

/* Returns NULL if there are already `most` accounts. */
static struct account *find_or_add(struct accounts *accounts, struct bytes name, size_t most)
{
    struct account *account = find_any(accounts, name);
    _Atomic(struct account *) *bucket = &accounts->buckets[bucket_of(name)];

    lock_assert_held(&accounts->lock);
    if (account || accounts->count >= most)
        return account;
    account = account_new(name);
    atomic_store_explicit(&account->next, atomic_load(bucket), memory_order_relaxed);
    atomic_store_explicit(bucket, account, memory_order_release);
    accounts->count++;
    return account;
}

static unsigned restrictions(const struct stored_account *stored)
{
    return (stored->disabled ? STANDING_DISABLED : 0u) |
           (stored->no_public_access ? STANDING_NO_PUBLIC_ACCESS : 0u) |
           (stored->no_shared_key ? STANDING_NO_SHARED_KEY : 0u) |
           (stored->tracks_access ? STANDING_TRACKS_ACCESS : 0u);
}

/* Makes an account present, with its own limits or the default ones. Called under the lock. */
static void admit_account(const struct accounts *accounts, struct account *account,
                          enum account_source source, const struct stored_account *stored)
{
    struct account_limits limits = accounts->limits;

    lock_assert_held(&accounts->lock);
    for (size_t i = 0; stored && i < ACCOUNT_LIMITS; i++)
        if (stored->limits && stored->limits->of[i] > 0)
            limits.of[i] = stored->limits->of[i];
    account_set_standing(account, source, STANDING_PRESENT | (stored ? restrictions(stored) : 0u));
    account_set_limits(account, &limits);
}

/* ---- reservations, called under the lock ---- */

/* Returns the link to the reservation of this name, or the link at which to insert one. */
static struct reservation **find_reservation(struct accounts *accounts, struct bytes name)
{
    struct reservation **at = &accounts->reservations;

    lock_assert_held(&accounts->lock);
    while (*at && !bytes_equal(bytes_of((*at)->name, (*at)->length), name))
        at = &(*at)->next;
    return at;
}

/* Returns true if the account belongs, or may soon belong, to another source than lists. */
static bool is_of_others(struct accounts *accounts, const struct account *account)
{
    return *find_reservation(accounts, account->name) ||
           (account_is_present(account) && account_source(account) != ACCOUNT_CONFIGURED);
}

bool accounts_reserve(struct accounts *accounts, struct bytes name)
{
    struct reservation **at;
    struct account *account;
    bool is_free;

    lock_acquire(&accounts->lock);
    account = find_any(accounts, name);
    is_free = !account || !account_is_present(account) || account_source(account) == ACCOUNT_STORED;
    at = find_reservation(accounts, name);
    if (is_free && !*at) {
        *at = xcalloc(1, sizeof **at + name.len);
        (*at)->length = name.len;
        memcpy((*at)->name, name.ptr, name.len);
    }
    if (is_free)
        (*at)->count++;
    lock_release(&accounts->lock);
    return is_free;
}

void accounts_release(struct accounts *accounts, struct bytes name)
{
    struct reservation **at, *reservation;

    lock_acquire(&accounts->lock);
    at = find_reservation(accounts, name);
    reservation = *at;
    assert(reservation);
    if (--reservation->count == 0) {
        *at = reservation->next;
        free(reservation);
    }
    lock_release(&accounts->lock);
}

/* ---- lists ---- */

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

/* Parses "name:key1[:key2]". Returns an error message, or NULL. */
static const char *read_entry(struct bytes text, struct entry *entry)
{
    struct bytes keys, key;

    bytes_cut(text, ':', &entry->name, &keys);
    if (!is_name(entry->name))
        return "an account's name is empty, too long, or has characters other than letters, "
               "digits, '-' and '_'";
    if (!keys.ptr)
        return "an account has no key (the form is name:key1[:key2];...)";
    while (keys.ptr) {
        bytes_cut(keys, ':', &key, &keys);
        if (entry->keys.count == ACCOUNT_KEYS_MAX)
            return "an account has more than two keys";
        if (!key_prepare(key, &entry->keys.of[entry->keys.count++]))
            return "a key is empty, too long, or has no base64 digit";
    }
    return NULL;
}

static const char *add_entry(struct list *list, struct bytes text)
{
    if (list->count == ACCOUNTS_MAX)
        return "the list names too many accounts";
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 4;
        struct entry *entries = xcalloc(capacity, sizeof *entries);

        if (list->count > 0)
            memcpy(entries, list->entries, list->count * sizeof *entries);
        if (list->count > 0)
            explicit_bzero(list->entries, list->count * sizeof *entries);
        free(list->entries);
        list->entries = entries;
        list->capacity = capacity;
    }
    return read_entry(text, &list->entries[list->count++]);
}

/* Reads entries that end with a semicolon or a line end; lines starting with # are comments.
 * Returns an error message, or NULL. */
static const char *read_list(struct list *list, struct bytes rest)
{
    const char *problem = NULL;
    struct bytes line, text;

    while (rest.len > 0 && !problem) {
        bytes_cut(rest, '\n', &line, &rest);
        if (bytes_has_prefix(bytes_trim(line), bytes_from_string("#")))
            continue;
        while (line.len > 0 && !problem) {
            bytes_cut(line, ';', &text, &line);
            text = bytes_trim(text);
            if (text.len > 0 && text.ptr[text.len - 1] == '\r')
                text.len--;
            if (text.len > 0)
                problem = add_entry(list, text);
        }
    }
    if (!problem && list->count == 0)
        problem = "the list names no account (the form is name:key1[:key2];...)";
    return problem;
}

static void list_release(struct list *list)
{
    if (list->entries)
        explicit_bzero(list->entries, list->capacity * sizeof *list->entries);
    free(list->entries);
}

/* Finds or adds the accounts of the entries. Returns an error message, or NULL. Called under the
 * lock. */
static const char *place_entries(struct accounts *accounts, struct list *list)
{
    uint64_t number = ++accounts->lists;

    for (size_t i = 0; i < list->count; i++) {
        struct account *account =
            find_or_add(accounts, list->entries[i].name, ACCOUNTS_MAX - STORED_ACCOUNTS_MAX);

        if (!account)
            return "too many different accounts since the start of the server";
        if (account->listed == number)
            return "an account is named twice";
        if (is_of_others(accounts, account))
            return "a configured account already exists in the store (lagra account)";
        account->listed = number;
        list->entries[i].account = account;
    }
    return NULL;
}

/* Called under the lock. */
static void remove_unlisted(struct accounts *accounts)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct account *account = atomic_load(&accounts->buckets[i]); account;
             account = next_of(account))
            if (account->listed != accounts->lists && account_is_present(account) &&
                account_source(account) == ACCOUNT_CONFIGURED)
                account_set_standing(account, ACCOUNT_CONFIGURED, 0);
}

static bool put_list(struct accounts *accounts, struct bytes text, bool replaces,
                     const char **ret_problem)
{
    struct list list = { .entries = NULL };
    const char *problem = read_list(&list, text);

    lock_acquire(&accounts->lock);
    if (!problem)
        problem = place_entries(accounts, &list);
    for (size_t i = 0; i < list.count && !problem; i++) {
        account_set_keys(list.entries[i].account, &list.entries[i].keys);
        admit_account(accounts, list.entries[i].account, ACCOUNT_CONFIGURED, NULL);
    }
    if (!problem && replaces)
        remove_unlisted(accounts);
    lock_release(&accounts->lock);
    list_release(&list);
    if (problem)
        *ret_problem = problem;
    return !problem;
}

bool accounts_add_list(struct accounts *accounts, const char *text, const char **ret_problem)
{
    return put_list(accounts, bytes_from_string(text), false, ret_problem);
}

bool accounts_replace(struct accounts *accounts, const char *text, const char **ret_problem)
{
    return put_list(accounts, bytes_from_string(text), true, ret_problem);
}

/* ---- single accounts ---- */

void accounts_add_development(struct accounts *accounts)
{
    struct entry entry = { .account = NULL };
    const char *problem = read_entry(development_account, &entry);

    assert(!problem);
    lock_acquire(&accounts->lock);
    entry.account = find_or_add(accounts, entry.name, ACCOUNTS_MAX);
    assert(entry.account && !account_is_present(entry.account));
    account_set_keys(entry.account, &entry.keys);
    admit_account(accounts, entry.account, ACCOUNT_DEVELOPMENT, NULL);
    lock_release(&accounts->lock);
}

void accounts_confine_development(struct accounts *accounts)
{
    struct account *account = find_any(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT));

    assert(account && account_source(account) == ACCOUNT_DEVELOPMENT);
    account_confine(account);
}

enum account_put accounts_put_stored(struct accounts *accounts, const struct stored_account *stored)
{
    enum account_put result = ACCOUNT_PUT;
    struct keys keys = { .count = 0 };
    struct account *account;

    for (size_t i = 0; i < stored->key_count; i++)
        if (!key_prepare(stored->keys[i], &keys.of[keys.count++]))
            return ACCOUNT_MALFORMED;
    if (!is_name(stored->name) || keys.count == 0)
        return ACCOUNT_MALFORMED;
    lock_acquire(&accounts->lock);
    account = find_or_add(accounts, stored->name, ACCOUNTS_MAX);
    if (!account) {
        result = ACCOUNT_TOO_MANY;
    } else if (account_is_present(account) && account_source(account) != ACCOUNT_STORED) {
        result = ACCOUNT_ELSEWHERE;
    } else if (stored->version > account->version) {
        account_set_keys(account, &keys);
        account_set_hierarchical(account, stored->hierarchical);
        admit_account(accounts, account, ACCOUNT_STORED, stored);
        account->version = stored->version;
    }
    lock_release(&accounts->lock);
    explicit_bzero(&keys, sizeof keys);
    return result;
}
