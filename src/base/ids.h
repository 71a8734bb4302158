/* Random GUIDs: request ids, lease ids, spaces. Thread-safe. */
#ifndef LAGRA_BASE_IDS_H
#define LAGRA_BASE_IDS_H

#include "base/bytes.h"

struct guid {
    uint8_t b[16];
};

#define GUID_TEXT_SIZE 37

/* Creates a random GUID (RFC 9562 version 4). Cheap: uses a per-thread pool of getrandom()
 * bytes. */
struct guid guid_new(void);
/* Parses all .NET forms: N, D, B, P (32 digits, dashes, braces, parentheses); ignores case.
 * rest: Lease-Blob "x-ms-proposed-lease-id" */
bool guid_parse(struct bytes text, struct guid *ret_guid);
/* Writes the lower-case form with dashes, and a NUL. */
void guid_format(const struct guid *guid, char buffer[GUID_TEXT_SIZE]);
/* Hashes a GUID for tables of GUIDs chosen by clients. A client that chooses colliding GUIDs only
 * slows down its own requests. */
unsigned guid_hash(const struct guid *guid);
static inline bool guid_is_zero(const struct guid *guid)
{
    static const struct guid zero;

    return memcmp(guid, &zero, sizeof zero) == 0;
}
static inline bool guid_equal(const struct guid *a, const struct guid *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}

#endif
