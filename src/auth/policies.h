/* Stored access policies: start, expiry and permissions that are kept with a container, queue,
 * table or share, so that a SAS which names one of them can be revoked. Plain values.
 * rest: Define-stored-access-policy */
#ifndef LAGRA_AUTH_POLICIES_H
#define LAGRA_AUTH_POLICIES_H

#include "base/arena.h"
#include "base/clock.h"

#define POLICIES_MAX 5

struct policy {
    struct bytes id;
    instant start;           /* 0: not set */
    instant expiry;          /* 0: not set */
    struct bytes permission; /* ptr NULL: not set */
};
struct policies {
    struct policy items[POLICIES_MAX];
    size_t count;
};

/* The stored form, in the order the policies were set; ptr NULL: none.
 *   u8 1 (version of the run); then for each: bytes id; start and expiry, ticks, 0 when not set;
 *   bytes permission, absent when not set */
struct bytes policies_encode(struct arena *arena, const struct policies *policies);
/* Points into `encoded`. Returns false when it is damaged. */
bool policies_decode(struct bytes encoded, struct policies *ret_policies);
/* By its id, compared exactly; NULL: none. */
const struct policy *policies_find(const struct policies *policies, struct bytes id);

#endif
