/* See account_uses.h. An account has an entry while any of its counts is above 0. */
#include "smb_session/account_uses.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/lock.h"
#include "smb_protocol/limits.h"

#define BUCKETS 256u

struct entry {
    struct entry *next;
    unsigned counts[ACCOUNT_USES];
    size_t len;
    char name[]; /* not terminated */
};

struct account_uses {
    struct lock lock; /* RANK_ACCOUNT_USES */
    struct entry *buckets[BUCKETS];
};

static const unsigned limits[ACCOUNT_USES] = {
    [USES_DURABLE] = SMB_KEPT_OF_ACCOUNT_MAX,
    [USES_PARKED] = SMB_PARKED_OF_ACCOUNT_MAX,
    [USES_WATCHES] = SMB_WATCHES_OF_ACCOUNT_MAX,
};

struct account_uses *account_uses_new(void)
{
    struct account_uses *uses = xcalloc(1, sizeof *uses);

    lock_init(&uses->lock, RANK_ACCOUNT_USES);
    return uses;
}

void account_uses_free(struct account_uses *uses)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (uses->buckets[i]) {
            struct entry *next = uses->buckets[i]->next;

            free(uses->buckets[i]);
            uses->buckets[i] = next;
        }
    lock_destroy(&uses->lock);
    free(uses);
}

/* Returns the pointer to the account's entry, or the end of the bucket's list if it has none. */
static struct entry **entry_at(struct account_uses *uses, struct bytes account)
{
    unsigned hash = 0;
    struct entry **at;

    lock_assert_held(&uses->lock);
    for (size_t i = 0; i < account.len; i++)
        hash = hash * 31 + (unsigned char)account.ptr[i];
    at = &uses->buckets[hash % BUCKETS];
    while (*at && !bytes_equal(bytes_of((*at)->name, (*at)->len), account))
        at = &(*at)->next;
    return at;
}

static struct entry *entry_new(struct bytes account)
{
    struct entry *entry = xcalloc(1, sizeof *entry + account.len);

    entry->len = account.len;
    memcpy(entry->name, account.ptr, account.len);
    return entry;
}

static bool add(struct account_uses *uses, struct bytes account, enum account_use use,
                unsigned limit)
{
    struct entry **at;
    bool fits;

    lock_acquire(&uses->lock);
    at = entry_at(uses, account);
    if (!*at)
        *at = entry_new(account);
    fits = (*at)->counts[use] < limit;
    (*at)->counts[use] += fits;
    lock_release(&uses->lock);
    return fits;
}

bool account_use_begin(struct account_uses *uses, struct bytes account, enum account_use use)
{
    return add(uses, account, use, limits[use]);
}

void account_use_add(struct account_uses *uses, struct bytes account, enum account_use use)
{
    (void)add(uses, account, use, UINT32_MAX);
}

void account_use_end(struct account_uses *uses, struct bytes account, enum account_use use)
{
    struct entry **at, *entry;
    bool is_used = false;

    lock_acquire(&uses->lock);
    at = entry_at(uses, account);
    entry = *at;
    assert(entry && entry->counts[use] > 0);
    entry->counts[use]--;
    for (size_t i = 0; i < ACCOUNT_USES; i++)
        is_used |= entry->counts[i] > 0;
    if (!is_used) {
        *at = entry->next;
        free(entry);
    }
    lock_release(&uses->lock);
}
