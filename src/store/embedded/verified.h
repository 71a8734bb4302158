/* Remembers sectors that were verified a moment ago, so that a hot piece can be sent from its file
 * without reading it twice each time.
 *
 * An entry is valid for VERIFIED_MS, and only while the bytes are in the page cache
 * (file_is_cached()): these are the verified bytes. Bytes that have left memory are read again, and
 * their entry is removed before the read, and also when the piece is freed or found damaged.
 * Entries may be lost at any time (the table has a fixed size). decision: 275 */
#ifndef LAGRA_STORE_EMBEDDED_VERIFIED_H
#define LAGRA_STORE_EMBEDDED_VERIFIED_H

#include "base/lock.h"
#include "store/store.h"

#define VERIFIED_MS      2000
#define VERIFIED_SETS    1024
#define VERIFIED_ENTRIES 4 /* per set */

struct verified_entry {
    uint64_t offset;
    uint64_t sectors;  /* one bit per sector */
    uint64_t since_ms; /* of the oldest of them; CLOCK_MONOTONIC */
    uint32_t extent;   /* 0 means empty */
    bool unreadable;   /* the disk failed to read it */
};

struct verified {
    struct lock lock;
    struct verified_entry entries[VERIFIED_SETS][VERIFIED_ENTRIES];
};

enum verified_answer { VERIFIED_NOT, VERIFIED_YES, VERIFIED_UNREADABLE };

void verified_init(struct verified *verified);
void verified_release(struct verified *verified);
/* Returns whether all these sectors (one bit each) are known to be correct. Thread-safe. */
enum verified_answer verified_ask(struct verified *verified, const struct piece *piece,
                                  uint64_t sectors);
void verified_add(struct verified *verified, const struct piece *piece, uint64_t sectors);
/* Records that a read failed, for a caller that waits for it. */
void verified_add_unreadable(struct verified *verified, const struct piece *piece);
void verified_forget(struct verified *verified, uint32_t extent, uint64_t offset);

#endif
