/* Stored access policies: start, expiry and permissions stored with a container, queue, table or
 * share, so that a SAS that refers to one can be revoked. Plain values.
 * rest: Define-stored-access-policy */
#ifndef LAGRA_AUTH_POLICIES_H
#define LAGRA_AUTH_POLICIES_H

#include "base/arena.h"
#include "base/clock.h"

#define POLICIES_MAX 5

struct policy {
    struct bytes id;
    instant start;           /* 0 if not set */
    instant expiry;          /* 0 if not set */
    struct bytes permission; /* ptr NULL if not set */
};
struct policies {
    struct policy items[POLICIES_MAX];
    size_t count;
};

/* Encodes policies in the order they were set; returns ptr NULL if there are none.
 *   u8 1 (version); then for each: bytes id; start and expiry, ticks, 0 if not set; bytes
 *   permission, absent if not set */
struct bytes policies_encode(struct arena *arena, const struct policies *policies);
/* Decodes policies that point into `encoded`. Returns false if it is corrupt. */
bool policies_decode(struct bytes encoded, struct policies *ret_policies);
/* Returns the policy with exactly this id, or NULL. */
const struct policy *policies_find(const struct policies *policies, struct bytes id);

#endif
