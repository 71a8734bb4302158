/* How much room the disk has, and what of it is kept back.
 *
 * Below the reserve whatever grows is refused (STORE_FULL), so that there is always room for what
 * does not ask: the log, table files and compactions of RocksDB, and deletes, which give space
 * back.
 *
 * Others may fill the disk too. So when it comes near to being full, a ballast is laid into the
 * data folder: bytes that belong to nothing. A start that finds no room gives it up, so that it has
 * what reading the log back takes; it is laid again when there is room. */
#ifndef LAGRA_STORE_EMBEDDED_DISK_SPACE_H
#define LAGRA_STORE_EMBEDDED_DISK_SPACE_H

#include <stdatomic.h>

#include "store/store.h"

struct disk_space {
    int folder;       /* of the data */
    uint64_t reserve; /* bytes; sizes.h says how much is needed */
    uint64_t ballast; /* bytes; 0: none is laid */
    /* There may be something to do for disk_space_tend(), or it is roomy no more, or again. */
    void (*low)(void *context);
    void *context;
    _Atomic uint64_t room; /* above the reserve at the last look, less what was admitted since */
    _Atomic uint64_t looked_ms; /* CLOCK_MONOTONIC */
    _Atomic uint64_t poked_ms;
    _Atomic uint64_t overdrawn; /* admitted below the reserve, since the disk is low */
    atomic_bool is_low;
    atomic_bool is_roomy;
    atomic_bool has_ballast;
};

/* Looks at the disk. reserve 0: 640 MiB, or a quarter of the file system when that is less.
 * low(context) may be called by any thread, rarely. Start-up thread.
 * returns STORE_OK, STORE_FULL (the disk, or the reserve asked for, is too small; *ret_problem) */
enum store_result disk_space_open(struct disk_space *space, int folder, uint64_t reserve,
                                  void (*low)(void *context), void *context,
                                  const char **ret_problem);
void disk_space_close(struct disk_space *space);
/* Sees to it that so many bytes are free, by giving up the ballast if need be: before something that
 * cannot do without them. Start-up thread.
 * returns STORE_OK, STORE_FULL (*ret_problem) */
enum store_result disk_space_claim(struct disk_space *space, uint64_t bytes,
                                   const char **ret_problem);
/* Whether there is room for that many bytes more, while `pending` others are on their way to the
 * disk. Any thread. */
bool disk_space_admits(struct disk_space *space, uint64_t bytes, uint64_t pending);
/* Whether records that stand may grow by so many bytes more below the reserve: of that a 32nd of it can
 * be spared, until it is whole again. Any thread. */
bool disk_space_overdraw(struct disk_space *space, uint64_t bytes);
/* Below the reserve, by the last look. Any thread. */
bool disk_space_is_low(const struct disk_space *space);
/* Whether several times the reserve are free, by the last look (sizes.h). Any thread. */
bool disk_space_is_roomy(const struct disk_space *space);
/* Bytes that are free on it now; 0 where the system does not say. Any thread. */
uint64_t disk_space_free(const struct disk_space *space);
/* Looks again; lays the ballast when it is wanted and there is room. May wait for the disk.
 * Start-up thread, then the collector. */
void disk_space_tend(struct disk_space *space);

#endif
