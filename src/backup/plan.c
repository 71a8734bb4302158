/* Lists the files of a state: see plan.h. */
#include "backup/plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

#define NS_PER_SECOND 1000000000ull
/* A file changed more recently than this may change again without a visible difference, because
 * file system clocks have a coarse resolution. */
#define SETTLED_NS    (2 * NS_PER_SECOND)

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

/* Returns the extent's id, or 0 if it is not an extent's name. */
static uint32_t extent_of(const char *name)
{
    char *end;
    unsigned long id = strtoul(name, &end, 16);

    return strlen(name) == 8 && !*end && strspn(name, "0123456789abcdef") == 8 ? (uint32_t)id : 0;
}

static bool is_table(const char *name)
{
    return bytes_has_suffix(bytes_from_string(name), (struct bytes)BYTES(".sst"));
}

/* Files that never change under the same name, except by punching holes, are compared with the
 * previous copy. */
static void choose_way(struct item *item, bool is_growing, const struct backup_list *before)
{
    const struct backup_file *copy = backup_list_find(before, item->name);

    if (!copy || is_growing || copy->inode == 0 || copy->size != item->size ||
        (item->extent == 0 && !is_table(item->base)))
        return;
    item->way = item->inode == copy->inode && item->changed_ns == copy->changed_ns ? ITEM_LINK
                                                                                   : ITEM_COMPARE;
}

static bool add_item(struct backup_work *work, struct plan *plan, struct item item,
                     const struct backup_state *state, const struct backup_list *before)
{
    bool is_growing = item.extent > 0 && item.extent == state->last_extent;
    struct timespec now;
    struct stat status;

    if (fstatat(item.folder, item.base, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return work_fail_errno(work, "stat %s", item.name);
    if (!S_ISREG(status.st_mode) || !backup_list_knows(item.name))
        return work_fail(work, "%s is not a file of a data directory", item.name);
    clock_gettime(CLOCK_REALTIME, &now);
    item.size = (uint64_t)status.st_size;
    item.end = is_growing && state->last_end < item.size ? state->last_end : item.size;
    item.bytes = (uint64_t)status.st_blocks * 512;
    item.bytes = item.bytes < item.size ? item.bytes : item.size;
    if (!is_growing && ns_of(status.st_mtim) + SETTLED_NS < ns_of(now)) {
        item.inode = status.st_ino;
        item.changed_ns = ns_of(status.st_mtim);
    }
    choose_way(&item, is_growing, before);
    if (plan->count == plan->capacity) {
        plan->capacity = plan->capacity > 0 ? 2 * plan->capacity : 64;
        plan->items = xrealloc(plan->items, plan->capacity * sizeof plan->items[0]);
    }
    plan->items[plan->count++] = item;
    return true;
}

/* kind: "extents" or "records", the directory's name in a backup. */
static bool add_folder(struct backup_work *work, struct plan *plan, int folder, const char *kind,
                       const struct backup_state *state, const struct backup_list *before)
{
    DIR *dir = file_list(folder, ".");
    const struct dirent *entry;
    bool added = true;

    while (dir && added && (entry = file_next_entry(dir))) {
        struct item item = { .folder = folder };

        if (entry->d_name[0] == '.')
            continue;
        if (strcmp(kind, "extents") == 0) {
            item.extent = extent_of(entry->d_name);
            if (item.extent == 0 || item.extent > state->last_extent)
                continue;
        }
        if (snprintf(item.name, sizeof item.name, "%s/%s", kind, entry->d_name) >=
            (int)sizeof item.name)
            added = work_fail(work, "%s/%s is not a file of a data directory", kind, entry->d_name);
        item.base = entry->d_name;
        added = added && add_item(work, plan, item, state, before);
    }
    if (!dir || (added && errno))
        added = work_fail_errno(work, "list the folder of %s", kind);
    if (dir)
        closedir(dir);
    return added;
}

static int by_name(const void *a, const void *b)
{
    const struct item *left = a, *right = b;

    return strcmp(left->name, right->name);
}

static void add_up(struct backup_work *work, struct plan *plan)
{
    struct backup_progress *progress = &work->progress;

    for (size_t i = 0; i < plan->count; i++) {
        struct item *item = &plan->items[i];

        item->base = strchr(item->name, '/') + 1; /* the array has been sorted */
        progress->files_total++;
        if (item->way != ITEM_LINK)
            progress->bytes_total += item->bytes;
    }
}

static int open_in(struct backup_work *work, const char *location, const char *name)
{
    int folder = folder_at(work, AT_FDCWD, location, false), fd;

    if (folder < 0)
        return -1;
    fd = folder_at(work, folder, name, false);
    close(folder);
    return fd;
}

bool plan_make(struct backup_work *work, const struct backup_source *source,
               const struct backup_state *state, const struct backup_list *before,
               struct plan *ret_plan)
{
    struct plan plan = { .records = open_in(work, source->location, BACKUP_RECORDS),
                         .extents = open_in(work, source->location, "extents") };

    if (plan.records < 0 || plan.extents < 0 ||
        !add_folder(work, &plan, plan.extents, "extents", state, before) ||
        !add_folder(work, &plan, plan.records, "records", state, before)) {
        plan_release(&plan);
        return false;
    }
    if (plan.count > 0)
        qsort(plan.items, plan.count, sizeof plan.items[0], by_name);
    add_up(work, &plan);
    *ret_plan = plan;
    return true;
}

void plan_release(struct plan *plan)
{
    if (plan->records >= 0)
        close(plan->records);
    if (plan->extents >= 0)
        close(plan->extents);
    free(plan->items);
}
