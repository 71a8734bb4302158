/* Inside of auth/ only: one account, whose keys change while requests are checked with them.
 *
 * (1) An account is never freed while its set lives: whoever has found it may ask it at any time.
 * (2) A reader takes no lock and waits for nobody. Keys lie in two places; the one that counts is selected by a
 *     sequence number, and a change writes the other one. A reader that has been overtaken copies again; that
 *     takes two changes during one copy of at most 720 bytes. (As Linux' seqcount_latch.)
 * (3) What is no longer named keeps its keys for requests under way, and is not found. */
#ifndef LAGRA_AUTH_ACCOUNT_H
#define LAGRA_AUTH_ACCOUNT_H

#include <stdatomic.h>

#include <nettle/hmac.h>

#include "auth/account_limits.h"

struct key {
    struct hmac_sha256_ctx hmac; /* keyed, nothing hashed yet: used in a copy */
    uint8_t nt_hash[NT_HASH_SIZE];
};

struct keys {
    uint64_t count; /* 0: none yet */
    struct key of[ACCOUNT_KEYS_MAX];
};
#define KEYS_WORDS (sizeof(struct keys) / sizeof(uint64_t))
_Static_assert(sizeof(struct key) % sizeof(uint64_t) == 0, "copied by words");
_Static_assert(offsetof(struct keys, of) == sizeof(uint64_t), "whose first is the count");

/* Its limits, and what it has paid for: account_limits.c. Apart from what all requests read. */
enum { METER_REQUESTS = 2, METER_RATES }; /* behind those of enum account_way */
struct meter {
    _Atomic uint64_t limits[ACCOUNT_LIMITS]; /* 0: none */
    _Atomic uint64_t paid_ns[METER_RATES];   /* until this instant of the monotonic clock */
    _Atomic uint64_t kept_bytes;             /* as they were counted last */
    _Atomic uint64_t came_bytes;             /* since that began */
    _Atomic uint64_t came_before;            /* the count that is under way began */
    _Atomic bool was_full;                   /* since it was counted */
    _Atomic uint32_t note;                   /* account_note() */
};

struct account {
    _Atomic(struct account *) next; /* of its bucket */
    struct bytes name;              /* owned; constant */
    struct meter *meter;            /* owned; constant */
    _Atomic unsigned standing;      /* STANDING_ bits, and the source */
    _Atomic unsigned sequence;      /* of keys: its lowest bit says which ones count */
    _Atomic uint64_t keys[2][KEYS_WORDS];
    /* Under the set's lock. */
    uint64_t listed;  /* in which list it was named last */
    uint64_t version; /* of what the store says of it */
};

enum {
    STANDING_PRESENT = 1,
    STANDING_DISABLED = 2,
    STANDING_LIMITED = 4,
    STANDING_CONFINED = 8,
    STANDING_SOURCE = 4, /* shift */
};

/* Without keys, not present. */
struct account *account_new(struct bytes name);
void account_free(struct account *account);
/* Makes the HMAC state and the NT hash of a key. Returns false when it has no base64 digit, or is too long. Keys
 * of emulators are often no strict base64 ("testing_key"); clients decode them leniently, as Azurite does.
 * decision: 34 */
bool key_prepare(struct bytes text, struct key *ret_key);
/* From now on requests are checked with these. One thread at a time. */
void account_set_keys(struct account *account, const struct keys *keys);
/* After its keys. One thread at a time. */
void account_set_standing(struct account *account, enum account_source source, bool present,
                          bool disabled);
/* After its standing. One thread at a time. */
void account_set_limits(struct account *account, const struct account_limits *limits);
void account_confine(struct account *account);
unsigned account_standing(const struct account *account);
bool account_is_present(const struct account *account);

#endif
