/* Internal to auth/: one account, whose keys may change while requests are checked with them.
 *
 * (1) An account is never freed before its set: a pointer to it stays valid.
 * (2) Readers take no lock and never wait. There are two copies of the keys; a sequence number
 *     selects the current one, and a change writes the other one. An overtaken reader copies again,
 *     which takes two changes during one copy of at most 720 bytes. (Like Linux' seqcount_latch.)
 * (3) An account removed from the configuration keeps its keys for requests in progress but is no
 *     longer found. */
#ifndef LAGRA_AUTH_ACCOUNT_H
#define LAGRA_AUTH_ACCOUNT_H

#include <stdatomic.h>

#include <nettle/hmac.h>

#include "auth/account_limits.h"

struct key {
    struct hmac_sha256_ctx hmac; /* keyed, nothing hashed yet; copied before use */
    uint8_t nt_hash[NT_HASH_SIZE];
};

struct keys {
    uint64_t count; /* 0: not set yet */
    struct key of[ACCOUNT_KEYS_MAX];
};
#define KEYS_WORDS (sizeof(struct keys) / sizeof(uint64_t))
_Static_assert(sizeof(struct key) % sizeof(uint64_t) == 0, "copied by words");
_Static_assert(offsetof(struct keys, of) == sizeof(uint64_t), "whose first is the count");

/* Limits and consumption: account_limits.c. Separate from the fields that all requests read. */
enum { METER_REQUESTS = 2, METER_RATES }; /* follow those of enum account_way */
struct meter {
    _Atomic uint64_t limits[ACCOUNT_LIMITS]; /* 0 if there is none */
    /* instant of the monotonic clock up to which usage is paid */
    _Atomic uint64_t paid_ns[METER_RATES];
    _Atomic uint64_t kept_bytes;      /* at the last count */
    _Atomic uint64_t came_bytes;      /* received since the last count started */
    _Atomic uint64_t came_before;     /* came_bytes when the current count started */
    _Atomic uint64_t elsewhere_bytes; /* in other cells of the cluster, as last known */
    _Atomic bool is_counted;          /* there was a count */
    _Atomic bool was_full;            /* a request was refused since the last count */
    _Atomic bool is_wanted;           /* another cell has requested a count since the last one */
    _Atomic uint32_t note;            /* account_note() */
    _Atomic bool is_hierarchical;
};

struct account {
    _Atomic(struct account *) next; /* in its bucket */
    struct bytes name;              /* owned; constant */
    struct meter *meter;            /* owned; constant */
    _Atomic unsigned standing;      /* STANDING_ bits, and the source */
    _Atomic unsigned sequence;      /* its lowest bit selects the current keys */
    _Atomic uint64_t keys[2][KEYS_WORDS];
    /* Under the set's lock. */
    uint64_t listed;  /* number of the last list that named it */
    uint64_t version; /* version of the stored account */
};

enum {
    STANDING_PRESENT = 1,
    STANDING_DISABLED = 2,
    STANDING_LIMITED = 4,
    STANDING_CONFINED = 8,
    STANDING_NO_PUBLIC_ACCESS = 16,
    STANDING_NO_SHARED_KEY = 32,
    STANDING_TRACKS_ACCESS = 64,
    STANDING_SOURCE = 7, /* shift */
};

/* Creates an account without keys, not present. */
struct account *account_new(struct bytes name);
void account_free(struct account *account);
/* Prepares the HMAC state and NT hash of a key. Returns false if it has no base64 digit or is too
 * long. Emulators' keys are often not strict base64 ("testing_key"); clients decode them leniently,
 * like Azurite. decision: 34 */
bool key_prepare(struct bytes text, struct key *ret_key);
/* Replaces the keys that requests are checked with. One thread at a time. */
void account_set_keys(struct account *account, const struct keys *keys);
/* Sets the state, after the keys. One thread at a time. standing: STANDING_ bits, without the source */
void account_set_standing(struct account *account, enum account_source source, unsigned standing);
/* Sets the limits, after the standing. One thread at a time. */
void account_set_limits(struct account *account, const struct account_limits *limits);
void account_confine(struct account *account);
unsigned account_standing(const struct account *account);
bool account_is_present(const struct account *account);

#endif
