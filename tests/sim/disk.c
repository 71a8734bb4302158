/* Files as pages, directories as lists, and what a crash leaves of them. */
#include "disk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define RUN         512u
#define SECTORS     (PAGE_SIZE / SECTOR_SIZE)
#define ALL_SECTORS 0xFFu

/* A change of names that no fsync() has made durable. */
struct rename_on_its_way {
    struct rename_on_its_way *next;
    struct inode *from, *to; /* folders; NULL: nothing goes, nothing comes */
    char old_name[NAME_MAX_SIM], name[NAME_MAX_SIM];
    struct inode *inode; /* that the new name is of */
};

static struct inode *inode_new(bool is_directory)
{
    struct inode *inode = world_alloc(sizeof *inode);

    inode->id = ++world->disk->next_id;
    inode->is_directory = is_directory;
    inode->next = world->disk->inodes;
    world->disk->inodes = inode;
    return inode;
}

void disk_begin(void)
{
    world->disk = world_alloc(sizeof *world->disk);
    world->disk->changes_end = &world->disk->changes;
    world->disk->pages_max = UINT64_MAX;
    world->disk->root = inode_new(true);
    world->disk->root->refs = 1;
    world->disk->root->file = FILE_OTHER;
    world->disk->root->parent = world->disk->root;
}

/* ---- pages ---- */

static struct page *find_page(const struct inode *inode, uint64_t number)
{
    size_t run = (size_t)(number / RUN);

    if (run >= inode->runs || !inode->pages[run])
        return NULL;
    return inode->pages[run][number % RUN];
}

unsigned char *disk_page(const struct inode *inode, uint64_t number)
{
    const struct page *page = find_page(inode, number);

    return page ? page->now : NULL;
}

static struct page *make_page(struct inode *inode, uint64_t number)
{
    size_t run = (size_t)(number / RUN);
    struct page *page;

    if (run >= inode->runs) {
        size_t runs = inode->runs > 0 ? inode->runs : 4;
        struct page ***grown;

        while (runs <= run)
            runs *= 2;
        grown = world_alloc(runs * sizeof *grown);
        if (inode->runs > 0)
            memcpy(grown, inode->pages, inode->runs * sizeof *grown);
        world_free(inode->pages, inode->runs * sizeof *grown);
        inode->pages = grown;
        inode->runs = runs;
    }
    if (!inode->pages[run])
        inode->pages[run] = world_alloc(RUN * sizeof *inode->pages[run]);
    page = inode->pages[run][number % RUN];
    if (!page) {
        page = world_alloc(sizeof *page);
        page->number = number;
        inode->pages[run][number % RUN] = page;
    }
    return page;
}

static void count_pages(struct inode *inode, int by)
{
    inode->pages_used += (uint64_t)(int64_t)by;
    world->disk->pages_used += (uint64_t)(int64_t)by;
}

static void free_bytes(unsigned char **bytes)
{
    world_free(*bytes, PAGE_SIZE);
    *bytes = NULL;
}

/* Before sectors of `mask` change: what they have on the disk is kept. */
static void touch(struct inode *inode, struct page *page, uint8_t mask)
{
    uint8_t fresh = mask & (uint8_t) ~(page->dirty | page->stuck);

    if (fresh && page->now && !page->durable)
        page->durable = world_alloc(PAGE_SIZE);
    for (unsigned s = 0; s < SECTORS && page->durable; s++) {
        if (!(fresh >> s & 1))
            continue;
        if (page->now)
            memcpy(page->durable + s * SECTOR_SIZE, page->now + s * SECTOR_SIZE, SECTOR_SIZE);
        else
            memset(page->durable + s * SECTOR_SIZE, 0, SECTOR_SIZE);
    }
    page->dirty |= mask;
    page->stuck &= (uint8_t)~mask;
    if (!page->is_listed) {
        page->is_listed = true;
        page->next_dirty = inode->dirty;
        inode->dirty = page;
    }
}

static uint8_t sectors_of(size_t from, size_t to)
{
    unsigned first = (unsigned)(from / SECTOR_SIZE);
    unsigned last = (unsigned)((to - 1) / SECTOR_SIZE);

    return (uint8_t)((ALL_SECTORS << first) & (ALL_SECTORS >> (SECTORS - 1 - last)));
}

size_t disk_read(const struct inode *inode, uint64_t at, void *to, size_t size)
{
    size_t done = 0;

    if (at >= inode->size)
        return 0;
    if (size > inode->size - at)
        size = (size_t)(inode->size - at);
    while (done < size) {
        const struct page *page = find_page(inode, (at + done) / PAGE_SIZE);
        size_t in = (size_t)((at + done) % PAGE_SIZE), some = PAGE_SIZE - in;

        if (some > size - done)
            some = size - done;
        if (page && page->now)
            memcpy((char *)to + done, page->now + in, some);
        else
            memset((char *)to + done, 0, some);
        done += some;
    }
    return size;
}

size_t disk_write(struct inode *inode, uint64_t at, const void *from, size_t size)
{
    size_t done = 0;

    while (done < size) {
        struct page *page = make_page(inode, (at + done) / PAGE_SIZE);
        size_t in = (size_t)((at + done) % PAGE_SIZE), some = PAGE_SIZE - in;

        if (some > size - done)
            some = size - done;
        if (!page->now && world->disk->pages_used >= world->disk->pages_max)
            break;
        touch(inode, page, sectors_of(in, in + some));
        if (!page->now) {
            page->now = world_alloc(PAGE_SIZE);
            count_pages(inode, 1);
        }
        memcpy(page->now + in, (const char *)from + done, some);
        done += some;
    }
    if (done > 0 && at + done > inode->size)
        inode->size = at + done;
    return done;
}

void disk_zero(struct inode *inode, uint64_t from, uint64_t to)
{
    while (from < to) {
        struct page *page = find_page(inode, from / PAGE_SIZE);
        size_t in = (size_t)(from % PAGE_SIZE), some = PAGE_SIZE - in;

        if (!page && from / PAGE_SIZE / RUN >= inode->runs)
            return;
        if (some > to - from)
            some = (size_t)(to - from);
        if (page && page->now) {
            touch(inode, page, sectors_of(in, in + some));
            if (some == PAGE_SIZE) {
                free_bytes(&page->now);
                count_pages(inode, -1);
            } else {
                memset(page->now + in, 0, some);
            }
        }
        from += some;
    }
}

void disk_truncate(struct inode *inode, uint64_t size)
{
    if (size < inode->size)
        disk_zero(inode, size, inode->size);
    inode->size = size;
}

uint64_t disk_next_data(const struct inode *inode, uint64_t at)
{
    for (uint64_t number = at / PAGE_SIZE; number * PAGE_SIZE < inode->size; number++) {
        const struct page *page;

        if (number / RUN >= inode->runs)
            return UINT64_MAX;
        if (!inode->pages[number / RUN]) {
            number |= RUN - 1;
            continue;
        }
        page = find_page(inode, number);
        if (page && page->now)
            return number * PAGE_SIZE > at ? number * PAGE_SIZE : at;
    }
    return UINT64_MAX;
}

/* ---- names ---- */

static struct entry **link_of(struct entry **list, const char *name)
{
    while (*list && strcmp((*list)->name, name) != 0)
        list = &(*list)->next;
    return list;
}

struct entry *disk_entry(struct inode *folder, const char *name)
{
    return *link_of(&folder->entries, name);
}

static void release_pages(struct inode *inode)
{
    for (size_t run = 0; run < inode->runs; run++) {
        if (!inode->pages[run])
            continue;
        for (size_t i = 0; i < RUN; i++) {
            struct page *page = inode->pages[run][i];

            if (!page)
                continue;
            free_bytes(&page->now);
            free_bytes(&page->durable);
            world_free(page, sizeof *page);
        }
        world_free(inode->pages[run], RUN * sizeof *inode->pages[run]);
    }
    world_free(inode->pages, inode->runs * sizeof *inode->pages);
    world->disk->pages_used -= inode->pages_used;
}

static void unref_if_over(struct inode *inode)
{
    struct inode **link = &world->disk->inodes;

    if (inode->refs > 0 || inode->opens > 0)
        return;
    release_pages(inode);
    while (*link != inode)
        link = &(*link)->next;
    *link = inode->next;
    world_free(inode, sizeof *inode);
}

static void unref(struct inode *inode)
{
    assert(inode->refs > 0);
    inode->refs--;
    unref_if_over(inode);
}

/* Gives the name to the inode (NULL: to none), whoever had it. */
static void set_name(struct entry **list, const char *name, struct inode *inode)
{
    struct entry **link = link_of(list, name);
    struct entry *entry = *link;
    struct inode *was = entry ? entry->inode : NULL;

    if (inode)
        inode->refs++;
    if (inode && !entry) {
        entry = world_alloc(sizeof *entry);
        (void)snprintf(entry->name, sizeof entry->name, "%s", name);
        *link = entry;
    }
    if (inode) {
        entry->inode = inode;
    } else if (entry) {
        *link = entry->next;
        world_free(entry, sizeof *entry);
    }
    if (was)
        unref(was);
}

static void note_change(struct inode *from, const char *old_name, struct inode *to,
                        const char *name, struct inode *inode)
{
    struct rename_on_its_way *change = world_alloc(sizeof *change);

    change->from = from;
    change->to = to;
    change->inode = inode;
    (void)snprintf(change->old_name, sizeof change->old_name, "%s", old_name ? old_name : "");
    (void)snprintf(change->name, sizeof change->name, "%s", name ? name : "");
    if (inode)
        inode->refs++;
    *world->disk->changes_end = change;
    world->disk->changes_end = &change->next;
}

static void apply_change(const struct rename_on_its_way *change)
{
    if (change->to)
        set_name(&change->to->durable_entries, change->name, change->inode);
    if (change->from)
        set_name(&change->from->durable_entries, change->old_name, NULL);
}

/* Takes the first change out of the list at `link`. */
static void end_change(struct rename_on_its_way **link)
{
    struct rename_on_its_way *change = *link;

    *link = change->next;
    if (!change->next)
        world->disk->changes_end = link;
    if (change->inode)
        unref(change->inode);
    world_free(change, sizeof *change);
}

enum file_kind disk_file_kind(const struct inode *folder, const char *name)
{
    static const char *const folders[] = { "", "extents", "records" };

    return cell_file_kind(folders[folder->kind], name);
}

struct inode *disk_create(struct inode *folder, const char *name, bool is_directory)
{
    struct inode *inode;

    if (disk_entry(folder, name))
        return NULL;
    assert(strlen(name) < NAME_MAX_SIM);
    inode = inode_new(is_directory);
    inode->parent = folder;
    inode->kind = folder->kind;
    inode->holds_cells = is_directory && strcmp(name, "cells") == 0;
    inode->cell = folder->holds_cells ? (unsigned)strtoul(name, NULL, 10) : folder->cell;
    if (is_directory && strcmp(name, "extents") == 0)
        inode->kind = 1;
    else if (is_directory && strcmp(name, "records") == 0)
        inode->kind = 2;
    inode->file = is_directory ? FILE_OTHER : disk_file_kind(folder, name);
    set_name(&folder->entries, name, inode);
    note_change(NULL, NULL, folder, name, inode);
    return inode;
}

void disk_link(struct inode *folder, const char *name, struct inode *inode)
{
    set_name(&folder->entries, name, inode);
    note_change(NULL, NULL, folder, name, inode);
}

void disk_remove(struct inode *folder, const char *name)
{
    note_change(folder, name, NULL, NULL, NULL);
    set_name(&folder->entries, name, NULL);
}

void disk_rename(struct inode *from, const char *old_name, struct inode *to, const char *name)
{
    struct inode *inode = disk_entry(from, old_name)->inode;

    if (inode->is_directory)
        inode->parent = to;
    else
        inode->file = disk_file_kind(to, name);
    note_change(from, old_name, to, name, inode);
    set_name(&to->entries, name, inode);
    set_name(&from->entries, old_name, NULL);
}

void disk_open(struct inode *inode)
{
    inode->opens++;
}

void disk_close(struct inode *inode)
{
    inode->opens--;
    unref_if_over(inode);
}

struct inode *disk_find(struct inode *from, const char *path, struct inode **ret_folder,
                        const char **ret_last)
{
    struct inode *at = from, *folder = from;
    static char part[NAME_MAX_SIM];

    part[0] = '\0';
    while (*path) {
        size_t size = strcspn(path, "/");

        if (size > 0) {
            if (!at || !at->is_directory || size >= NAME_MAX_SIM) {
                *ret_folder = NULL;
                return NULL;
            }
            memcpy(part, path, size);
            part[size] = '\0';
            folder = at;
            if (strcmp(part, "..") == 0) {
                at = at->parent;
            } else if (strcmp(part, ".") != 0) {
                struct entry *entry = disk_entry(at, part);

                at = entry ? entry->inode : NULL;
            }
        }
        path += size;
        path += *path == '/';
    }
    *ret_folder = folder;
    *ret_last = part;
    return at;
}

/* ---- syncs ---- */

static void settle_page(struct page *page, uint8_t mask)
{
    page->dirty &= (uint8_t)~mask;
    if (!page->dirty && !page->stuck)
        free_bytes(&page->durable);
}

/* One sector of the page, drawn; as often the last one. */
static void note_rewrite(const struct inode *inode, const struct page *page)
{
    struct rewrite *rewrite = &world->disk->rewrites[world->disk->rewritten % REWRITES];
    unsigned sector = world_draw(STREAM_CRASH, SECTORS);

    if (world_once_in(STREAM_CRASH, 2)) {
        for (unsigned s = 0; s < SECTORS; s++)
            sector = page->dirty >> s & 1 ? s : sector;
    }
    if (!(page->dirty >> sector & 1) || !page->now)
        return;
    world->disk->rewritten++;
    memset(rewrite, 0, sizeof *rewrite);
    rewrite->inode = inode->id;
    rewrite->offset = page->number * PAGE_SIZE + sector * SECTOR_SIZE;
    memcpy(rewrite->after, page->now + sector * SECTOR_SIZE, SECTOR_SIZE);
    if (page->durable)
        memcpy(rewrite->before, page->durable + sector * SECTOR_SIZE, SECTOR_SIZE);
}

void disk_sync(struct inode *inode)
{
    struct rename_on_its_way **link = &world->disk->changes;
    bool may_lie = (world->plan.faults & FAULT_DAMAGE) != 0;

    world->disk->syncs++;
    for (struct page *page = inode->dirty; page; page = page->next_dirty) {
        if (may_lie)
            note_rewrite(inode, page);
        settle_page(page, ALL_SECTORS);
        page->is_listed = false;
    }
    inode->dirty = NULL;
    inode->durable_size = inode->size;
    while (inode->is_directory && *link) {
        if ((*link)->from == inode || (*link)->to == inode) {
            apply_change(*link);
            end_change(link);
        } else {
            link = &(*link)->next;
        }
    }
}

/* What the disk has of these sectors becomes what everybody sees. */
static void revert(struct inode *inode, struct page *page, uint8_t mask)
{
    if (!page->now && page->durable) {
        page->now = world_alloc(PAGE_SIZE);
        count_pages(inode, 1);
    }
    for (unsigned s = 0; s < SECTORS && page->now; s++) {
        if (!(mask >> s & 1))
            continue;
        if (page->durable)
            memcpy(page->now + s * SECTOR_SIZE, page->durable + s * SECTOR_SIZE, SECTOR_SIZE);
        else
            memset(page->now + s * SECTOR_SIZE, 0, SECTOR_SIZE);
    }
    page->stuck &= (uint8_t)~mask;
    settle_page(page, mask);
}

void disk_fail_sync(struct inode *inode, enum sync_failure how)
{
    if (how == SYNC_KEEPS)
        return;
    for (struct page *page = inode->dirty; page; page = page->next_dirty) {
        page->is_listed = false;
        if (how == SYNC_DROPS) {
            revert(inode, page, page->dirty);
        } else {
            page->stuck |= page->dirty;
            page->dirty = 0;
        }
    }
    inode->dirty = NULL;
}

/* ---- crashes ---- */

void disk_kill(void)
{
    struct inode *next;

    for (struct inode *inode = world->disk->inodes; inode; inode = next) {
        next = inode->next;
        inode->opens = 0;
        inode->locked = 0;
        unref_if_over(inode);
    }
}

static enum file_kind kind_of_change(const struct rename_on_its_way *change)
{
    return change->inode ? change->inode->file : disk_file_kind(change->from, change->old_name);
}

static bool is_of_extents(const struct rename_on_its_way *change)
{
    return kind_of_change(change) == FILE_EXTENT;
}

/* Whether an inode is of the cell; 0 stands for all. */
static bool is_of_cell(const struct inode *inode, unsigned cell)
{
    return cell == 0 || inode->cell == cell;
}

/* Which of the changes of names are on the disk: the first ones, as with a journal; of extents, as
 * often, any. */
static void cut_names(unsigned cell)
{
    struct rename_on_its_way **link = &world->disk->changes;
    bool any = world_once_in(STREAM_CRASH, 2), lost = false;
    unsigned rare = 1 + world_draw(STREAM_CRASH, 8);

    while (*link) {
        bool alone = any && is_of_extents(*link), is_lost;

        if (!is_of_cell((*link)->to ? (*link)->to : (*link)->from, cell)) {
            link = &(*link)->next;
            continue;
        }
        is_lost = alone ? world_once_in(STREAM_CRASH, 2) : lost;
        if (!alone && world_once_in(STREAM_CRASH, rare))
            is_lost = lost = true;
        if (is_lost)
            cell_reached(CELL_POWER, kind_of_change(*link));
        if (alone && is_lost != lost)
            cell_reached(CELL_NAMES, FILE_EXTENT);
        if (!is_lost)
            apply_change(*link);
        end_change(link);
    }
}

static void copy_durable_names(struct inode *folder)
{
    while (folder->entries)
        set_name(&folder->entries, folder->entries->name, NULL);
    for (struct entry *entry = folder->durable_entries; entry; entry = entry->next)
        set_name(&folder->entries, entry->name, entry->inode);
}

/* The sectors that were not synced: each is there or is not. The size follows them. */
static void cut_file(struct inode *inode, unsigned keep_of_8)
{
    uint64_t end = inode->durable_size < inode->size ? inode->durable_size : inode->size;
    bool has_lost = false;

    for (size_t run = 0; run < inode->runs; run++) {
        for (size_t i = 0; inode->pages[run] && i < RUN; i++) {
            struct page *page = inode->pages[run][i];
            uint8_t lost;

            if (!page || !(page->dirty | page->stuck))
                continue;
            lost = page->stuck;
            for (unsigned s = 0; s < SECTORS; s++) {
                uint64_t after = page->number * PAGE_SIZE + (s + 1) * SECTOR_SIZE;

                if (!(page->dirty >> s & 1))
                    continue;
                if (world_draw(STREAM_CRASH, 8) >= keep_of_8)
                    lost |= (uint8_t)(1u << s);
                else if (after > end)
                    end = after;
            }
            has_lost |= lost != 0;
            revert(inode, page, lost);
            settle_page(page, page->dirty);
            page->is_listed = false;
        }
    }
    inode->dirty = NULL;
    if (end > inode->size)
        end = inode->size;
    /* A size may be on the disk before the bytes below it, and a shorter one may not be yet. */
    if (inode->durable_size > inode->size)
        end = world_once_in(STREAM_CRASH, 2) ? inode->durable_size : inode->size;
    else if (world_once_in(STREAM_CRASH, 4))
        end = inode->size;
    if (end < inode->size)
        disk_zero(inode, end, inode->size);
    has_lost |= inode->size != end;
    inode->size = end;
    disk_sync(inode);
    if (has_lost)
        cell_reached(CELL_POWER, inode->file);
}

static void lose_names(unsigned cell)
{
    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next)
        inode->opens++; /* none goes before disk_kill() */
    cut_names(cell);
    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next) {
        if (inode->is_directory && is_of_cell(inode, cell))
            copy_durable_names(inode);
    }
}

static void lose_bytes(unsigned cell)
{
    static const unsigned keeps[] = { 0, 0, 1, 4, 7, 8 };

    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next) {
        if (inode->is_directory || !is_of_cell(inode, cell))
            continue;
        if (world->spoiled_by_power > 1)
            cell_reached(CELL_POWER_TWICE, inode->file);
        cut_file(inode, keeps[world_draw(STREAM_CRASH, 6)]);
    }
}

void disk_power_cut(void)
{
    lose_names(0);
    disk_kill();
    lose_bytes(0);
}

/* Files without a name remain while they are open. */
void disk_lose_unsynced(unsigned cell)
{
    lose_names(cell);
    lose_bytes(cell);
}

void disk_sync_cell(unsigned cell)
{
    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next)
        if (is_of_cell(inode, cell))
            disk_sync(inode);
}

void disk_sync_all(void)
{
    disk_sync_cell(0);
}

unsigned disk_unlock(unsigned session)
{
    unsigned cell = 0;

    for (struct inode *inode = world->disk->inodes; inode; inode = inode->next) {
        if (inode->locked != session)
            continue;
        inode->locked = 0;
        cell = inode->cell;
    }
    return cell;
}
