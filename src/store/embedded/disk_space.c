/* Free space of the file system, the reserve, the ballast. */
#include "store/embedded/disk_space.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/episode.h"
#include "base/log.h"
#include "store/embedded/sizes.h"

#define RESERVE_MAX     SIZES_RESERVE_USEFUL
#define RESERVE_SHARE   4 /* of the file system */
#define BALLAST_MAX     (64ull << 20)
#define BALLAST_SHARE   4 /* of the reserve */
/* The ballast is created when less than this many times the reserve is free. */
#define BALLAST_FROM    4
/* If more space than this is free, a check is valid for LOOK_MS. */
#define NEAR_BYTES      (64ull << 20)
#define LOOK_MS         50
#define POKE_MS         1000
/* Share of the reserve: space is no longer low when this much more is free. */
#define OVER_SHARE      8
/* Share of the reserve that leases and the like may use. */
#define OVERDRAFT_SHARE 32

static const char name[] = "ballast";

/* Returns the free and the total bytes of the file system; false if they are unknown. */
static bool measure(const struct disk_space *space, uint64_t *ret_free, uint64_t *ret_size)
{
    struct statvfs status;

    if (fstatvfs(space->folder, &status) < 0)
        return false;
    *ret_free = (uint64_t)status.f_bavail * status.f_frsize;
    *ret_size = (uint64_t)status.f_blocks * status.f_frsize;
    return *ret_size > 0;
}

static void note_low(struct disk_space *space, uint64_t free)
{
    bool was_low = atomic_load(&space->is_low);
    bool is_low = free < space->reserve + (was_low ? space->reserve / OVER_SHARE : 0);
    char detail[80];

    if (is_low != was_low)
        atomic_store(&space->is_low, is_low);
    if (was_low && !is_low)
        atomic_store(&space->overdrawn, 0);
    if (!is_low)
        return;
    snprintf(detail, sizeof detail, "%" PRIu64 " MiB are free, the reserve has %" PRIu64,
             free >> 20, space->reserve >> 20);
    episode_goes_on(EPISODE_DISK, detail);
}

/* Returns true if that has changed. */
static bool note_roomy(struct disk_space *space, uint64_t free)
{
    uint64_t times = atomic_load(&space->is_roomy) ? SIZES_ROOMY_UNTIL : SIZES_ROOMY_FROM;
    bool is_roomy = free / times >= space->reserve;

    return atomic_exchange(&space->is_roomy, is_roomy) != is_roomy;
}

static bool wants_ballast(const struct disk_space *space, uint64_t free)
{
    return space->ballast > 0 && !atomic_load(&space->has_ballast) &&
           free < BALLAST_FROM * space->reserve && free >= space->reserve + space->ballast;
}

static void poke(struct disk_space *space, uint64_t now)
{
    uint64_t before = atomic_load(&space->poked_ms);

    if (now - before >= POKE_MS && atomic_compare_exchange_strong(&space->poked_ms, &before, now))
        space->low(space->context);
}

/* Checks the disk and returns the space above the reserve. */
static uint64_t look(struct disk_space *space, uint64_t pending, uint64_t now)
{
    uint64_t free, size;
    uint64_t room = UINT64_MAX / 2; /* unknown: do not restrict */

    if (measure(space, &free, &size)) {
        uint64_t kept = space->reserve + pending;

        room = free > kept ? free - kept : 0;
        note_low(space, free);
        if (note_roomy(space, free))
            space->low(space->context);
        if (atomic_load(&space->is_low) || wants_ballast(space, free))
            poke(space, now);
    }
    atomic_store(&space->room, room);
    atomic_store(&space->looked_ms, now);
    return room;
}

bool disk_space_admits(struct disk_space *space, uint64_t bytes, uint64_t pending)
{
    uint64_t now = clock_coarse_ms();
    uint64_t room = atomic_load(&space->room);

    if (now - atomic_load(&space->looked_ms) < LOOK_MS && room > NEAR_BYTES + bytes) {
        atomic_fetch_sub(&space->room, bytes);
        return true;
    }
    return look(space, pending, now) > bytes;
}

bool disk_space_overdraw(struct disk_space *space, uint64_t bytes)
{
    return atomic_fetch_add(&space->overdrawn, bytes) + bytes <= space->reserve / OVERDRAFT_SHARE;
}

bool disk_space_is_roomy(const struct disk_space *space)
{
    return atomic_load(&space->is_roomy);
}

bool disk_space_is_low(const struct disk_space *space)
{
    return atomic_load(&space->is_low);
}

uint64_t disk_space_free(const struct disk_space *space)
{
    uint64_t free = 0, size;

    return measure(space, &free, &size) ? free : 0;
}

static void lay_ballast(struct disk_space *space)
{
    int fd = openat(space->folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : 0;

    if (fd >= 0 && fallocate(fd, 0, 0, (off_t)space->ballast) < 0)
        error = errno;
    if (fd >= 0)
        close(fd);
    atomic_store(&space->has_ballast, !error);
    if (!error)
        return;
    if (fd >= 0)
        unlinkat(space->folder, name, 0);
    if (error == EOPNOTSUPP)
        space->ballast = 0; /* the file system cannot preallocate */
    else
        log_line(LOG_WARN, "store: no ballast: error %d", error);
}

void disk_space_tend(struct disk_space *space)
{
    uint64_t free, size;

    look(space, 0, clock_coarse_ms());
    if (measure(space, &free, &size) && wants_ballast(space, free))
        lay_ballast(space);
}

static void give_up_ballast(struct disk_space *space)
{
    if (unlinkat(space->folder, name, 0) < 0) {
        log_errno("store: delete the ballast");
        return;
    }
    atomic_store(&space->has_ballast, false);
    log_line(LOG_WARN, "store: the disk is full; freeing the ballast of %" PRIu64 " MiB",
             space->ballast >> 20);
}

enum store_result disk_space_claim(struct disk_space *space, uint64_t bytes,
                                   const char **ret_problem)
{
    static char text[200];
    uint64_t free = UINT64_MAX, size;

    measure(space, &free, &size);
    if (free < bytes && atomic_load(&space->has_ballast)) {
        give_up_ballast(space);
        measure(space, &free, &size);
    }
    if (free >= bytes)
        return STORE_OK;
    snprintf(text, sizeof text,
             "the disk is full: to open it %" PRIu64 " KiB have to be free, and %" PRIu64 " are",
             (bytes + 1023) >> 10, free >> 10);
    *ret_problem = text;
    return STORE_FULL;
}

/* Checks that the reserve is large enough for everything that RocksDB may still have to write
 * (sizes.h). */
static enum store_result check_reserve(const struct disk_space *space, bool was_asked,
                                       uint64_t size, const char **ret_problem)
{
    static char text[200];

    if (space->reserve >= SIZES_RESERVE_LEAST)
        return STORE_OK;
    if (was_asked)
        snprintf(text, sizeof text,
                 "a reserve of %" PRIu64 " MiB (--diskReserve) cannot hold what deletes and "
                 "compactions need: %llu MiB is the least",
                 space->reserve >> 20, SIZES_RESERVE_LEAST >> 20);
    else
        snprintf(text, sizeof text, "its file system has %" PRIu64 " MiB, %llu are needed at least",
                 size >> 20, SIZES_RESERVE_LEAST * RESERVE_SHARE >> 20);
    *ret_problem = text;
    return STORE_FULL;
}

enum store_result disk_space_open(struct disk_space *space, int folder, uint64_t reserve,
                                  void (*low)(void *context), void *context,
                                  const char **ret_problem)
{
    uint64_t free = UINT64_MAX, size = UINT64_MAX;
    enum store_result result;

    *space = (struct disk_space){ .low = low, .context = context };
    space->folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    atomic_store(&space->has_ballast, faccessat(folder, name, F_OK, 0) == 0);
    measure(space, &free, &size);
    space->reserve = size / RESERVE_SHARE < RESERVE_MAX ? size / RESERVE_SHARE : RESERVE_MAX;
    if (reserve > 0)
        space->reserve = reserve;
    result = check_reserve(space, reserve > 0, size, ret_problem);
    if (result) {
        disk_space_close(space);
        return result;
    }
    space->ballast = space->reserve / BALLAST_SHARE;
    if (space->ballast > BALLAST_MAX)
        space->ballast = BALLAST_MAX;
    if (atomic_load(&space->has_ballast) && free < space->ballast)
        give_up_ballast(space);
    note_low(space, free);
    (void)note_roomy(space, free);
    return STORE_OK;
}

void disk_space_close(struct disk_space *space)
{
    if (space->folder >= 0)
        close(space->folder);
}
