/* Reads and verifies the bytes of direct reads: see direct_private.h. */
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"
#include "cluster/direct_private.h"

/* A part of a sector of a piece. */
struct part {
    uint32_t sector;
    uint32_t length; /* of the sector */
    uint32_t skip, take;
};

static struct part part_at(const struct listed *piece, uint64_t done)
{
    uint32_t at = piece->skip + (uint32_t)done;
    uint32_t sector = at / LISTED_SECTOR_BYTES, begin = sector * LISTED_SECTOR_BYTES;
    uint32_t rest = piece->length - begin;
    struct part part = { .sector = sector,
                         .length = rest < LISTED_SECTOR_BYTES ? rest : LISTED_SECTOR_BYTES,
                         .skip = at - begin };

    part.take = part.length - part.skip;
    if (part.take > piece->take - done)
        part.take = (uint32_t)(piece->take - done);
    return part;
}

/* Reads a sector and verifies its sum. If the sum is wrong, the page cache may have kept bytes from
 * before the piece was written, so it is read once more without them. */
static bool read_sector(int fd, const struct direct_read *read, const struct part *part, char *to)
{
    const struct listed *piece = &read->listed;
    uint64_t offset = piece->offset + (uint64_t)part->sector * LISTED_SECTOR_BYTES;
    uint32_t sum = listed_sum(piece, part->sector);

    for (unsigned attempt = 0; attempt < 2; attempt++) {
        ssize_t size = file_read_at(fd, to, part->length, offset);

        if (size < 0) {
            log_errno("read extent %08" PRIx32 " of cell %" PRIu32 " at %" PRIu64, piece->extent,
                      read->cell, offset);
            return false;
        }
        if (size == (ssize_t)part->length && crc32c(0, to, part->length) == sum)
            return true;
        (void)posix_fadvise(fd, (off_t)offset, part->length, POSIX_FADV_DONTNEED);
    }
    log_line(LOG_WARN,
             "extent %08" PRIx32 " of cell %" PRIu32 " has other bytes at %" PRIu64
             " than its owner expects",
             piece->extent, read->cell, offset);
    return false;
}

/* Returns true if the step ends although its window is not full. It has some bytes then, because
 * each sector contributes to it. */
static bool has_read_enough(const struct direct_read *read)
{
    return read->step_bytes >= DIRECT_STEP_BYTES;
}

/* Reads from a piece until the window is full, the piece ends, or the step has read enough. */
static bool fill_from_piece(struct direct_read *read, struct window_of_read *window)
{
    const struct listed *piece = &read->listed;
    struct direct_file *file = direct_file_take(read->direct, read->cell, piece->extent);
    char sector[LISTED_SECTOR_BYTES];
    bool is_good = true;

    if (!file)
        return false;
    while (is_good && read->done < piece->take) {
        struct part part = part_at(piece, read->done);
        char *to = window->bytes + window->to;
        bool is_whole = part.take == part.length;

        if (part.take > DIRECT_WINDOW_BYTES - window->to || has_read_enough(read))
            break;
        is_good = read_sector(file->fd, read, &part, is_whole ? to : sector);
        read->step_bytes += part.length;
        if (is_good && !is_whole)
            memcpy(to, sector + part.skip, part.take);
        window->to += is_good ? part.take : 0;
        read->done += is_good ? part.take : 0;
    }
    direct_file_give(read->direct, file, !is_good);
    return is_good;
}

static void fill_from_memory(struct direct_read *read, struct window_of_read *window)
{
    size_t room = DIRECT_WINDOW_BYTES - window->to;
    uint64_t left = read->listed.take - read->done;
    size_t size = left < room ? (size_t)left : room;

    if (read->listed.kind == LISTED_BYTES)
        memcpy(window->bytes + window->to, read->listed.bytes + read->done, size);
    else
        memset(window->bytes + window->to, 0, size);
    window->to += size;
    read->done += size;
}

bool direct_fill(struct direct_read *read, struct window_of_read *window)
{
    size_t before = window->to;

    read->step_bytes = 0;
    while (read->left > 0 && DIRECT_WINDOW_BYTES - window->to >= LISTED_SECTOR_BYTES &&
           !has_read_enough(read)) {
        if (read->done == read->listed.take) {
            bool has_next = piece_list_next(&read->in, &read->listed);

            assert(has_next); /* the list was checked */
            read->done = 0;
        }
        if (read->listed.kind != LISTED_PIECE)
            fill_from_memory(read, window);
        else if (!fill_from_piece(read, window))
            return false;
        read->left -= window->to - before;
        before = window->to;
    }
    return true;
}
