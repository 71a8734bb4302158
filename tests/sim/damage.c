/* Which sector, and how. */
#include "damage.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

#define TRIES 100

enum way { A_BIT, A_BYTE, ZEROS, OTHER_PLACE, LOST_WRITE, OTHER_WRITTEN, WAYS };

static const char *const ways[WAYS] = { "a bit flipped",
                                        "a byte changed",
                                        "a sector of zeros",
                                        "a sector of another place",
                                        "a lost write of a sector",
                                        "a write that hit another sector" };

static bool spares_logs;

static bool is_aimed_at(const struct inode *inode)
{
    return world->plan.aim == 0 || inode->file == (enum file_kind)(world->plan.aim - 1);
}

static bool is_drawn(const struct inode *inode)
{
    return !inode->is_directory && inode->pages_used > 0 && is_aimed_at(inode) &&
           !(spares_logs && inode->file == FILE_LOG);
}

static struct inode *draw_file(void)
{
    unsigned count = 0, chosen;

    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next)
        count += is_drawn(inode);
    if (count == 0)
        return NULL;
    chosen = world_draw(STREAM_CRASH, count);
    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next) {
        if (is_drawn(inode) && chosen-- == 0)
            return inode;
    }
    return NULL;
}

static unsigned char *sector_at(const struct inode *inode, uint64_t offset)
{
    unsigned char *page = disk_page(inode, offset / PAGE_SIZE);

    return page ? page + offset % PAGE_SIZE / SECTOR_SIZE * SECTOR_SIZE : NULL;
}

static unsigned char *draw_sector(const struct inode *inode, uint64_t *ret_offset)
{
    uint64_t chosen = world_draw(STREAM_CRASH, (unsigned)inode->pages_used);

    for (uint64_t at = disk_next_data(inode, 0); at != UINT64_MAX;
         at = disk_next_data(inode, at + PAGE_SIZE)) {
        if (chosen-- == 0) {
            uint64_t left = inode->size - at;
            unsigned sectors =
                left >= PAGE_SIZE ? PAGE_SIZE / SECTOR_SIZE : (unsigned)(left + 511) / SECTOR_SIZE;

            *ret_offset = at + world_draw(STREAM_CRASH, sectors) * SECTOR_SIZE;
            return sector_at(inode, *ret_offset);
        }
    }
    return NULL;
}

static const char *name_of(const struct inode *inode)
{
    for (const struct inode *folder = world->disk->inodes; folder; folder = folder->next) {
        for (const struct entry *e = folder->entries; e; e = e->next) {
            if (e->inode == inode)
                return e->name;
        }
    }
    return "?";
}

/* A sector that was synced some time ago, and whose file is there; NULL: the draw was not lucky. */
static const struct rewrite *draw_rewrite(struct inode **ret_inode)
{
    unsigned count = world->disk->rewritten < REWRITES ? world->disk->rewritten : REWRITES;
    const struct rewrite *rewrite;

    if (count == 0)
        return NULL;
    /* The newest is the end of the log more often than not. */
    rewrite =
        &world->disk
             ->rewrites[world_once_in(STREAM_CRASH, 2) ? (world->disk->rewritten - 1) % REWRITES
                                                       : world_draw(STREAM_CRASH, count)];
    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next) {
        if (inode->id == rewrite->inode && rewrite->offset < inode->size && is_drawn(inode)) {
            *ret_inode = inode;
            return rewrite;
        }
    }
    return NULL;
}

/* Bytes behind the end of a file are zeros. */
static void cut_to_size(const struct inode *inode, uint64_t offset, unsigned char *sector)
{
    if (offset + SECTOR_SIZE > inode->size)
        memset(sector + (inode->size - offset), 0, (size_t)(offset + SECTOR_SIZE - inode->size));
}

static bool put(const struct inode *inode, uint64_t offset, const unsigned char *bytes)
{
    unsigned char *sector = sector_at(inode, offset), before[SECTOR_SIZE];

    if (!sector)
        return false;
    memcpy(before, sector, SECTOR_SIZE);
    memmove(sector, bytes, SECTOR_SIZE);
    cut_to_size(inode, offset, sector);
    return memcmp(before, sector, SECTOR_SIZE) != 0;
}

/* The sector has what it had before its last sync; with `elsewhere`, another one got the write. */
static bool undo_write(bool elsewhere, const struct inode **ret_inode, uint64_t *ret_offset)
{
    struct inode *inode;
    const struct rewrite *rewrite = draw_rewrite(&inode);
    uint64_t other;
    bool changed;

    if (!rewrite)
        return false;
    *ret_inode = inode;
    *ret_offset = rewrite->offset;
    changed = put(inode, rewrite->offset, rewrite->before);
    if (elsewhere && draw_sector(inode, &other))
        changed |= put(inode, other, rewrite->after);
    return changed;
}

static void change_bits(unsigned char *bytes, size_t count, enum way way)
{
    unsigned char *byte = bytes + world_draw(STREAM_CRASH, (unsigned)count);

    *byte = (unsigned char)(*byte ^ (way == A_BIT ? 1u << world_draw(STREAM_CRASH, 8) : 0xA5u));
}

static bool damage_once(enum way way, const struct inode **ret_inode, uint64_t *ret_offset)
{
    static const unsigned char zeros[SECTOR_SIZE];
    struct inode *inode, *other;
    unsigned char copy[SECTOR_SIZE], *sector, *source;
    uint64_t elsewhere;

    if (way == LOST_WRITE || way == OTHER_WRITTEN)
        return undo_write(way == OTHER_WRITTEN, ret_inode, ret_offset);
    inode = draw_file();
    other = draw_file();
    if (!inode)
        return false;
    *ret_inode = inode;
    sector = draw_sector(inode, ret_offset);
    source = draw_sector(world_once_in(STREAM_CRASH, 2) ? inode : other, &elsewhere);
    if (!sector || !source)
        return false;
    memcpy(copy, way == OTHER_PLACE ? source : way == ZEROS ? zeros : sector, SECTOR_SIZE);
    if (way == A_BIT || way == A_BYTE)
        change_bits(copy, SECTOR_SIZE, way);
    return put(inode, *ret_offset, copy);
}

bool damage_disk(bool but_logs, enum file_kind *ret_file, char *ret_what, size_t size)
{
    spares_logs = but_logs;
    for (unsigned i = 0; i < TRIES; i++) {
        unsigned draw = world_draw(STREAM_CRASH, WAYS + 2);
        enum way way = draw < WAYS ? (enum way)draw : LOST_WRITE;
        const struct inode *inode;
        uint64_t offset;

        if (!damage_once(way, &inode, &offset))
            continue;
        *ret_file = inode->file;
        (void)snprintf(ret_what, size, "%s in %s at %llu of %llu", ways[way], name_of(inode),
                       (unsigned long long)offset, (unsigned long long)inode->size);
        return true;
    }
    return false;
}

/* ---- of what is read ---- */

/* What a sector of the file had before; NULL: none of those noted lies in what was read. */
static const struct rewrite *find_rewrite(const struct inode *inode, uint64_t at, size_t count)
{
    for (unsigned i = 0; i < REWRITES; i++) {
        const struct rewrite *rewrite = &world->disk->rewrites[i];

        if (rewrite->inode == inode->id && rewrite->offset >= at &&
            rewrite->offset + SECTOR_SIZE <= at + count)
            return rewrite;
    }
    return NULL;
}

bool damage_read(const struct inode *inode, uint64_t at, unsigned char *bytes, size_t count,
                 char *ret_what, size_t size)
{
    const struct rewrite *stale = find_rewrite(inode, at, count);
    enum way way = stale ? LOST_WRITE : (enum way)world_draw(STREAM_CRASH, OTHER_PLACE + 1);
    size_t first = (size_t)world_draw(STREAM_CRASH, (unsigned)count) / SECTOR_SIZE * SECTOR_SIZE;
    size_t some = count - first < SECTOR_SIZE ? count - first : SECTOR_SIZE;
    unsigned char before[SECTOR_SIZE];
    const unsigned char *source = NULL;
    uint64_t elsewhere;

    if (!is_aimed_at(inode))
        return false;
    if (stale) {
        first = (size_t)(stale->offset - at);
        some = SECTOR_SIZE;
    }
    memcpy(before, bytes + first, some);
    if (way == OTHER_PLACE)
        source = draw_sector(inode, &elsewhere);
    if (stale)
        memcpy(bytes + first, stale->before, some);
    else if (source)
        memcpy(bytes + first, source, some);
    else if (way == ZEROS)
        memset(bytes + first, 0, some);
    else
        change_bits(bytes + first, some, way);
    (void)snprintf(ret_what, size, "a read of %s at %llu gives %s", name_of(inode),
                   (unsigned long long)(at + first), stale ? "what was there before" : ways[way]);
    return memcmp(before, bytes + first, some) != 0;
}
