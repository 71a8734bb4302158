/* Identities, made in one place: random GUIDs (request ids, lease ids, spaces). Any thread. */
#ifndef LAGRA_BASE_IDS_H
#define LAGRA_BASE_IDS_H

#include "base/bytes.h"

struct guid {
    uint8_t b[16];
};

#define GUID_TEXT_SIZE 37

/* Random (RFC 9562 version 4). Cheap: from a per-thread pool of getrandom() bytes. */
struct guid guid_new(void);
/* Any .NET form: N, D, B, P (32 digits, dashes, braces, parentheses); case ignored.
 * rest: Lease-Blob "x-ms-proposed-lease-id" */
bool guid_parse(struct bytes text, struct guid *ret_guid);
/* Lower case with dashes, NUL included. */
void guid_format(const struct guid *guid, char buffer[GUID_TEXT_SIZE]);
/* For tables of GUIDs that clients have made: no worse than random ones where they want to find theirs. */
unsigned guid_hash(const struct guid *guid);
static inline bool guid_equal(const struct guid *a, const struct guid *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}

#endif
