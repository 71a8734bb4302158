/* Which sectors were read and found right a moment ago, so that a hot piece can be sent from its
 * file without being read twice each time.
 *
 * An entry is good for VERIFIED_MS, and where the bytes are in the page cache (file_is_cached()): those
 * are what was checksummed. What has left memory is read again, and its entry goes before it is fetched,
 * as it does when its piece is freed or found damaged. It may be lost at any time (the table has a fixed
 * size). decision: 275 */
#ifndef LAGRA_STORE_EMBEDDED_VERIFIED_H
#define LAGRA_STORE_EMBEDDED_VERIFIED_H

#include "base/lock.h"
#include "store/store.h"

#define VERIFIED_MS      2000
#define VERIFIED_SETS    1024
#define VERIFIED_ENTRIES 4 /* a set */

struct verified_entry {
    uint64_t offset;
    uint64_t sectors;  /* a bit each */
    uint64_t since_ms; /* of the oldest of them; CLOCK_MONOTONIC */
    uint32_t extent;   /* 0: empty */
    bool unreadable;   /* the disk failed to read it */
};

struct verified {
    struct lock lock;
    struct verified_entry entries[VERIFIED_SETS][VERIFIED_ENTRIES];
};

enum verified_answer { VERIFIED_NOT, VERIFIED_YES, VERIFIED_UNREADABLE };

void verified_init(struct verified *verified);
void verified_release(struct verified *verified);
/* Are all these sectors (a bit each) known to be right? Any thread. */
enum verified_answer verified_ask(struct verified *verified, const struct piece *piece,
                                  uint64_t sectors);
void verified_add(struct verified *verified, const struct piece *piece, uint64_t sectors);
/* So that a caller who waits for a fetch learns that it failed. */
void verified_add_unreadable(struct verified *verified, const struct piece *piece);
void verified_forget(struct verified *verified, uint32_t extent, uint64_t offset);

#endif
