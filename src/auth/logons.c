/* A leaky bucket per address in a set-associative table: an address is stored only in the set that
 * its hash selects. */
#include "auth/logons.h"

#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/arena.h"
#include "base/ids.h"
#include "base/lock.h"

#define SETS  1024u
#define WAYS  4u
/* Parts of a failure in which levels are counted. */
#define PARTS 1000u

struct address_failures {
    uint8_t key[16];
    uint64_t level; /* 0: the slot is free */
    instant at;     /* time at which `level` was valid */
};

struct logons {
    struct lock lock; /* RANK_LOGONS */
    uint64_t seed;    /* keeps clients from choosing which addresses share a set */
    struct address_failures places[SETS][WAYS];
};

struct logons *logons_new(void)
{
    struct logons *logons = xcalloc(1, sizeof *logons);
    struct guid random = guid_new();

    memcpy(&logons->seed, random.b + 8, sizeof logons->seed);
    lock_init(&logons->lock, RANK_LOGONS);
    return logons;
}

void logons_free(struct logons *logons)
{
    lock_destroy(&logons->lock);
    free(logons);
}

/* Returns the key that failures are counted by: the IPv4 address, or the /64 network of an IPv6
 * address. */
static void key_of(const uint8_t address[16], uint8_t ret_key[16])
{
    memcpy(ret_key, address, 16);
    if (!address_is_v4(address))
        memset(ret_key + 8, 0, 8);
}

static struct address_failures *set_of(struct logons *logons, const uint8_t key[16])
{
    uint64_t high, low, hash;

    memcpy(&high, key, sizeof high);
    memcpy(&low, key + sizeof high, sizeof low);
    hash = (high ^ logons->seed) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 29 ^ low) * 0xBF58476D1CE4E5B9u;
    return logons->places[(hash >> 32) % SETS];
}

/* Returns the level after subtracting what has leaked since. */
static uint64_t level_at(const struct address_failures *failures, instant now)
{
    uint64_t passed = now > failures->at ? now - failures->at : 0;
    uint64_t forgotten = passed / (LOGON_FORGOTTEN_S * TICKS_PER_SECOND / PARTS);

    return forgotten < failures->level ? failures->level - forgotten : 0;
}

static struct address_failures *find(struct logons *logons, const uint8_t key[16])
{
    struct address_failures *set = set_of(logons, key);

    lock_assert_held(&logons->lock);
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].level > 0 && memcmp(set[i].key, key, sizeof set[i].key) == 0)
            return &set[i];
    }
    return NULL;
}

bool logons_may_try(struct logons *logons, const uint8_t address[16], instant now)
{
    struct address_failures *failures;
    uint8_t key[16];
    bool may;

    key_of(address, key);
    lock_acquire(&logons->lock);
    failures = find(logons, key);
    if (failures && now < failures->at) /* the clock was set back: restart from here */
        failures->at = now;
    may = !failures || level_at(failures, now) + PARTS <= LOGONS_FAILED_MAX * PARTS;
    lock_release(&logons->lock);
    return may;
}

/* Takes over the slot of the address in the set with the fewest failures. */
static struct address_failures *replace(struct logons *logons, const uint8_t key[16], instant now)
{
    struct address_failures *set = set_of(logons, key);
    struct address_failures *least = &set[0];

    for (unsigned i = 1; i < WAYS; i++) {
        if (level_at(&set[i], now) < level_at(least, now))
            least = &set[i];
    }
    *least = (struct address_failures){ .level = 0, .at = now };
    memcpy(least->key, key, sizeof least->key);
    return least;
}

void logons_failed(struct logons *logons, const uint8_t address[16], instant now)
{
    struct address_failures *failures;
    uint8_t key[16];
    uint64_t level;

    key_of(address, key);
    lock_acquire(&logons->lock);
    failures = find(logons, key);
    if (!failures)
        failures = replace(logons, key, now);
    level = level_at(failures, now) + PARTS;
    if (level > LOGONS_FAILED_MAX * PARTS)
        level = LOGONS_FAILED_MAX * PARTS;
    failures->level = level;
    failures->at = now;
    lock_release(&logons->lock);
}
