/* The free space of the disk, and the part of it that is reserved.
 *
 * Below the reserve, everything that grows is refused (STORE_FULL), so that there is always space
 * for writes that cannot be refused: the log, table files and compactions of RocksDB, and deletes,
 * which free space.
 *
 * Other programs may fill the disk too. So when it is nearly full, a ballast file is created in the
 * data folder. If a start finds no free space, it deletes the ballast in order to replay the log.
 * The ballast is created again when there is space. */
#ifndef LAGRA_STORE_EMBEDDED_DISK_SPACE_H
#define LAGRA_STORE_EMBEDDED_DISK_SPACE_H

#include <stdatomic.h>

#include "store/store.h"

struct disk_space {
    int folder;       /* of the data */
    uint64_t reserve; /* bytes; sizes.h says how much is needed */
    uint64_t ballast; /* bytes; 0 means there is none */
    /* There may be work for disk_space_tend(), or disk_space_is_roomy() has changed. */
    void (*low)(void *context);
    void *context;
    _Atomic uint64_t room; /* above the reserve at the last check, minus bytes admitted since */
    _Atomic uint64_t looked_ms; /* CLOCK_MONOTONIC */
    _Atomic uint64_t poked_ms;
    _Atomic uint64_t overdrawn; /* bytes admitted below the reserve while the disk is low */
    atomic_bool is_low;
    atomic_bool is_roomy;
    atomic_bool has_ballast;
};

/* Checks the disk. reserve 0 means 640 MiB, or a quarter of the file system if that is less.
 * low(context) may be called by any thread, rarely. Called on the startup thread. Returns STORE_OK,
 * STORE_FULL (the disk or the given reserve is too small; *ret_problem). */
enum store_result disk_space_open(struct disk_space *space, int folder, uint64_t reserve,
                                  void (*low)(void *context), void *context,
                                  const char **ret_problem);
void disk_space_close(struct disk_space *space);
/* Ensures that this many bytes are free, by deleting the ballast if necessary. Called on the
 * startup thread. Returns STORE_OK, STORE_FULL (*ret_problem). */
enum store_result disk_space_claim(struct disk_space *space, uint64_t bytes,
                                   const char **ret_problem);
/* Returns true if there is space for that many more bytes, in addition to `pending` bytes that are
 * being written. Thread-safe. */
bool disk_space_admits(struct disk_space *space, uint64_t bytes, uint64_t pending);
/* Returns true if existing records may grow by this many bytes below the reserve: a 32nd of it may
 * be used until it is full again. Thread-safe. */
bool disk_space_overdraw(struct disk_space *space, uint64_t bytes);
/* Returns true if the last check was below the reserve. Thread-safe. */
bool disk_space_is_low(const struct disk_space *space);
/* Returns true if several times the reserve were free at the last check (sizes.h). Thread-safe. */
bool disk_space_is_roomy(const struct disk_space *space);
/* Returns the free bytes of the disk; 0 if unknown. Thread-safe. */
uint64_t disk_space_free(const struct disk_space *space);
/* Checks again, and creates the ballast when it is needed and there is space. May wait for the
 * disk. Called on the startup thread, then by the collector. */
void disk_space_tend(struct disk_space *space);

#endif
