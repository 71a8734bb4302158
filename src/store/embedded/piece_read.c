/* Sectors are read, verified, and only then copied or sent. An I/O thread fetches data that is not
 * in the page cache, so that a worker never waits for a disk. */
#include "store/embedded/piece_read.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/cursor.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/snapshots.h"
#include "store/record_value.h"

/* A range of sectors that an I/O thread reads into the page cache. */
struct fetch {
    struct io_job job;
    struct embedded *embedded;
    struct piece piece; /* sector_crc is not used */
    uint32_t first, count;
    struct waiter *waiter;
};

/* One for each thread that reads parts of sectors, allocated on first use. A thread-local array
 * would be zeroed, and use memory, in every thread of the process. */
static pthread_key_t scratch_key;

static void make_scratch_key(void)
{
    int error = pthread_key_create(&scratch_key, free);

    assert(!error);
}

/* Returns a buffer for a sector. */
static char *scratch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *mine;

    pthread_once(&once, make_scratch_key);
    mine = pthread_getspecific(scratch_key);
    if (!mine) {
        int error;

        mine = xmalloc(PIECE_SECTOR_BYTES);
        error = pthread_setspecific(scratch_key, mine);
        assert(!error);
    }
    return mine;
}

static uint32_t sector_length(const struct piece *piece, uint32_t sector)
{
    uint32_t left = piece->length - sector * PIECE_SECTOR_BYTES;

    return left < PIECE_SECTOR_BYTES ? left : PIECE_SECTOR_BYTES;
}

/* Reads one sector. only_cached: returns STORE_WAIT instead of waiting for the disk */
static enum store_result read_sector(int fd, const struct piece *piece, uint32_t sector,
                                     bool only_cached, char *to)
{
    uint64_t offset = piece->offset + (uint64_t)sector * PIECE_SECTOR_BYTES;
    uint32_t length = sector_length(piece, sector);
    uint32_t done = 0;

    assert(length > 0 && sector < piece_sectors(piece));
    while (done < length) {
        struct iovec rest = { to + done, length - done };
        ssize_t size = preadv2(fd, &rest, 1, (off_t)(offset + done), only_cached ? RWF_NOWAIT : 0);

        if (size > 0) {
            done += (uint32_t)size;
        } else if (size == 0) {
            log_line(LOG_ERROR, "store: extent %08" PRIx32 " ends within a piece", piece->extent);
            return STORE_CORRUPT;
        } else if (errno == EAGAIN) {
            return STORE_WAIT;
        } else if (errno == EOPNOTSUPP && only_cached) {
            only_cached = false; /* a file system that does not support this */
        } else if (errno != EINTR) {
            log_errno("store: read extent %08" PRIx32 " at %" PRIu64, piece->extent, offset);
            return STORE_IO;
        }
    }
    return STORE_OK;
}

static enum store_result read_and_check(int fd, const struct piece *piece, uint32_t sector,
                                        bool only_cached, char *to)
{
    enum store_result result = read_sector(fd, piece, sector, only_cached, to);

    if (result)
        return result;
    if (crc32c(0, to, sector_length(piece, sector)) != piece->sector_crc[sector]) {
        log_line(LOG_ERROR,
                 "store: damaged bytes in extent %08" PRIx32 ", piece at %" PRIu64
                 ", sector %" PRIu32,
                 piece->extent, piece->offset, sector);
        memset(to, 0, sector_length(piece, sector));
        return STORE_CORRUPT;
    }
    return STORE_OK;
}

static void run_fetch(struct io_job *job)
{
    struct fetch *fetch = (struct fetch *)job;
    struct waiter *waiter = fetch->waiter;
    struct extents *extents = &fetch->embedded->extents;
    struct extent *extent;
    enum store_result result = extents_take(extents, fetch->piece.extent, &extent);

    /* Data read into memory from now on has not been verified. */
    verified_forget(&fetch->embedded->verified, fetch->piece.extent, fetch->piece.offset);
    if (!result) {
        for (uint32_t i = 0; i < fetch->count && !result; i++)
            result = read_sector(extent->fd, &fetch->piece, fetch->first + i, false, scratch());
        extents_give(extents, extent);
    }
    /* The caller will hit a shortage itself, and report it. */
    if (result && result != STORE_SHORTAGE)
        verified_add_unreadable(&fetch->embedded->verified, &fetch->piece);
    free(fetch);
    waiter->wake(waiter);
}

/* Requests the sectors to be read into memory; the caller tries again when woken. */
static enum store_result fetch(struct embedded *embedded, const struct piece *piece, uint32_t first,
                               uint32_t count, struct waiter *waiter)
{
    struct fetch *fetch = xcalloc(1, sizeof *fetch);

    assert(waiter && count > 0 && first + count <= piece_sectors(piece));
    *fetch = (struct fetch){ .job = { .run = run_fetch },
                             .embedded = embedded,
                             .piece = *piece,
                             .first = first,
                             .count = count,
                             .waiter = waiter };
    io_pool_add(&embedded->io, &fetch->job);
    return STORE_WAIT;
}

static uint64_t sector_bits(uint32_t first, uint32_t end)
{
    uint64_t below_end;

    assert(first < end && end <= PIECE_SECTORS_MAX);
    below_end = end == 64 ? UINT64_MAX : (1ull << end) - 1;

    return below_end & ~((1ull << first) - 1);
}

enum store_result embedded_piece_read(struct store *store, const struct piece *piece,
                                      uint32_t offset, uint32_t length, void *to,
                                      struct waiter *waiter)
{
    struct embedded *embedded = embedded_of(store);
    uint32_t first = offset / PIECE_SECTOR_BYTES;
    uint32_t end = (offset + length + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES;
    char *at = to;
    struct extent *extent;
    enum store_result result;

    if (waiter && verified_ask(&embedded->verified, piece, 0) == VERIFIED_UNREADABLE)
        return STORE_IO;
    result = extents_take(&embedded->extents, piece->extent, &extent);
    if (result)
        return result;
    for (uint32_t sector = first; sector < end && !result; sector++) {
        uint32_t begin = sector * PIECE_SECTOR_BYTES;
        uint32_t size = sector_length(piece, sector);
        uint32_t from = offset > begin ? offset - begin : 0;
        uint32_t upto = offset + length < begin + size ? offset + length - begin : size;
        bool whole = from == 0 && upto == size;

        result = read_and_check(extent->fd, piece, sector, waiter, whole ? at : scratch());
        if (!result && !whole)
            memcpy(at, scratch() + from, upto - from);
        at += upto - from;
    }
    extents_give(&embedded->extents, extent);
    if (result == STORE_CORRUPT)
        verified_forget(&embedded->verified, piece->extent, piece->offset);
    return result == STORE_WAIT ? fetch(embedded, piece, first, end - first, waiter) : result;
}

enum store_result embedded_piece_check(struct store *store, const struct piece *piece,
                                       uint32_t offset, uint32_t length,
                                       struct piece_file *ret_file, struct waiter *waiter)
{
    struct embedded *embedded = embedded_of(store);
    uint32_t first = offset / PIECE_SECTOR_BYTES;
    uint32_t end = (offset + length + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES;
    uint64_t bits = length > 0 ? sector_bits(first, end) : 0;
    enum verified_answer known = verified_ask(&embedded->verified, piece, bits);
    struct extent *extent;
    enum store_result result;

    if (waiter && known == VERIFIED_UNREADABLE)
        return STORE_IO;
    result = extents_take(&embedded->extents, piece->extent, &extent);
    if (result)
        return result;
    if (known != VERIFIED_YES || !file_is_cached(extent->fd, piece->offset + offset, length)) {
        for (uint32_t sector = first; sector < end && !result; sector++)
            result = read_and_check(extent->fd, piece, sector, waiter, scratch());
        if (!result)
            verified_add(&embedded->verified, piece, bits);
    }
    if (!result) {
        *ret_file = (struct piece_file){ .fd = extent->fd,
                                         .offset = piece->offset + offset,
                                         .hold = extent };
        return STORE_OK;
    }
    extents_give(&embedded->extents, extent);
    return result == STORE_WAIT ? fetch(embedded, piece, first, end - first, waiter) : result;
}

void embedded_piece_give(struct store *store, const struct piece_file *file)
{
    extents_give(&embedded_of(store)->extents, file->hold);
}

/* ---- lending ---- */

struct lending {
    struct io_job job;
    struct embedded *embedded;
    uint32_t extent;
};

static void run_lending(struct io_job *job)
{
    struct lending *lending = (struct lending *)job;

    extents_prepare_lending(&lending->embedded->extents, lending->extent);
    free(lending);
}

bool embedded_piece_is_lent(struct store *store, uint32_t extent)
{
    struct embedded *embedded = embedded_of(store);
    enum extent_lending is = extents_lend(&embedded->extents, extent, clock_monotonic_ms());
    struct lending *lending;

    if (is == EXTENT_TO_PREPARE) {
        lending = xcalloc(1, sizeof *lending);
        *lending = (struct lending){ .job = { .run = run_lending },
                                     .embedded = embedded,
                                     .extent = extent };
        io_pool_add(&embedded->io, &lending->job);
    }
    return is == EXTENT_LENT;
}

/* ---- read ahead ---- */

/* The amounts read at once. An HTTP worker takes some 100 us for it; a thread that waits for the
 * disk anyway reads more. */
static const struct bounds {
    unsigned records;
    size_t bytes;
} of_worker = { 32, 64u << 10 }, of_blocking = { 256, 256u << 10 };

/* Gets a record from a memtable or RocksDB's cache: one just put, or read again. Returns false if
 * it is not there, may be from a commit in between, or is damaged. */
static bool get_cached(const struct embedded_snapshot *snapshot, struct bytes key,
                       struct arena *arena, struct record *ret_record)
{
    const struct keyspace *keyspace = &embedded_of(snapshot->snapshot.store)->keyspace;
    rocksdb_pinnableslice_t *slice;
    struct bytes value;
    bool found;

    if (keyspace_get_cached(keyspace, key, &slice) != STORE_OK)
        return false;
    value.ptr = rocksdb_pinnableslice_value(slice, &value.len);
    found = !snapshot_state(snapshot) && !snapshot_unseal(snapshot, key, arena, &value) &&
            record_value_read(value, arena, ret_record) == STORE_OK;
    rocksdb_pinnableslice_destroy(slice);
    return found;
}

static void read_ahead(struct embedded_snapshot *snapshot, struct bytes key, struct bytes end)
{
    const struct bounds *most = snapshot->snapshot.access.may_block ? &of_blocking : &of_worker;
    struct cursor *cursor = embedded_scan_cursor(&snapshot->snapshot, end, SCAN_AHEAD);
    enum store_result result = embedded_cursor_seek(cursor, key);
    size_t bytes = 0;

    for (unsigned i = 0; !result && i < most->records && bytes < most->bytes; i++) {
        snapshot_keep(snapshot, cursor->key, cursor->value);
        bytes += cursor->key.len + cursor->value.len;
        result = embedded_cursor_next(cursor);
    }
    /* The reader that needs this record reports its error. */
    embedded_cursor_close(cursor);
}

enum store_result embedded_get_ahead(struct read_view *base, struct bytes key, struct bytes end,
                                     struct arena *arena, struct record *ret_record)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    enum store_result result;

    if (snapshot_get_kept(snapshot, key, arena, ret_record, &result))
        return result;
    /* A reader of an older state caches nothing. */
    if (!snapshot_state(snapshot)) {
        if (get_cached(snapshot, key, arena, ret_record))
            return STORE_OK;
        read_ahead(snapshot, key, end);
    }
    return embedded_get(base, key, arena, ret_record);
}
