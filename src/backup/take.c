/* Creates a backup: pins the store's state, copies its files, makes the copy self-contained, and
 * renames it to its final name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backup/plan.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "store/keyring.h"

struct take {
    struct backup_work *work;
    const struct backup_source *source;
    int target; /* directory of backups; locked */
    int before; /* previous backup; -1 if none exists */
    int made;   /* backup being created */
    struct backup_list before_list, list;
    char name[BACKUP_NAME_SIZE];
    char temporary[BACKUP_NAME_SIZE + sizeof BACKUP_NAME_TMP];
};

/* ---- directory of backups ---- */

/* Returns true if a path is the directory or inside it, after resolving links. */
static bool lies_in(const char *path, const char *folder)
{
    char real_path[PATH_MAX], real_folder[PATH_MAX];
    size_t length;

    if (!realpath(path, real_path) || !realpath(folder, real_folder))
        return false;
    length = strlen(real_folder);
    return strncmp(real_path, real_folder, length) == 0 &&
           (real_path[length] == '/' || real_path[length] == '\0');
}

static bool open_target(struct take *take, const char *to)
{
    struct backup_work *work = take->work;

    take->target = folder_make(work, to, NULL);
    if (take->target < 0)
        return false;
    if (lies_in(to, take->source->location))
        return work_fail(work, "%s is inside the data directory", to);
    if (flock(take->target, LOCK_EX | LOCK_NB) == 0)
        return true;
    return errno == EWOULDBLOCK ? work_fail(work, "another backup is running in %s", to)
                                : work_fail_errno(work, "lock the folder %s", to);
}

/* Removes backups left unfinished by a kill. The lock excludes concurrent ones. */
static bool remove_begun(struct take *take)
{
    DIR *dir = file_list(take->target, ".");
    const struct dirent *entry;
    bool removed = true;

    while (dir && removed && (entry = file_next_entry(dir))) {
        char name[BACKUP_NAME_SIZE];
        size_t length = strlen(entry->d_name);

        if (length != BACKUP_NAME_SIZE - 1 + strlen(BACKUP_NAME_TMP))
            continue;
        snprintf(name, sizeof name, "%.*s", BACKUP_NAME_SIZE - 1, entry->d_name);
        if (backup_is_name(name) &&
            strcmp(entry->d_name + BACKUP_NAME_SIZE - 1, BACKUP_NAME_TMP) == 0)
            removed = folder_remove(take->work, take->target, entry->d_name);
    }
    if (!dir || (removed && errno))
        removed = work_fail_errno(take->work, "list the folder of backups");
    if (dir)
        closedir(dir);
    return removed;
}

/* Converts "2026-11-26T00:45:12.1234567Z" to "20261126T004512.123Z". */
static void write_name(instant at, char name[BACKUP_NAME_SIZE])
{
    char iso[INSTANT_ISO_SIZE];
    size_t length = 0;

    instant_format_iso(at, iso);
    for (const char *c = iso; *c && length < BACKUP_NAME_SIZE - 2; c++)
        if (*c != '-' && *c != ':')
            name[length++] = *c;
    name[length++] = 'Z';
    name[length] = '\0';
}

/* Chooses a name that sorts after that of the previous backup, even if the clock was set back. */
static bool choose_name(struct take *take, const char *newest)
{
    const instant millisecond = TICKS_PER_SECOND / 1000;
    instant at = clock_wall();

    if (take->before >= 0 && at < take->before_list.made + millisecond)
        at = take->before_list.made + millisecond;
    take->list.made = at;
    write_name(at, take->name);
    snprintf(take->temporary, sizeof take->temporary, "%s" BACKUP_NAME_TMP, take->name);
    return (backup_is_name(take->name) && strcmp(take->name, newest) > 0) ||
           work_fail(take->work, "the clock is behind the newest backup, %s", newest);
}

/* Opens the previous backup. A corrupt one is ignored: nothing is hard-linked from it, and it is
 * not an error. */
static void open_before(struct take *take, const char *name)
{
    int backup = openat(take->target, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int list = backup >= 0 ? openat(backup, BACKUP_LIST, O_RDONLY | O_CLOEXEC) : -1;

    if (list >= 0 && backup_list_read(list, &take->before_list))
        take->before = backup;
    else if (backup >= 0)
        close(backup);
    if (list >= 0)
        close(list);
}

/* ---- files ---- */

static int create(struct take *take, const char *name)
{
    int fd = openat(take->made, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        work_fail_errno(take->work, "create %s", name);
    return fd;
}

/* Links the file to the previous backup's copy. *ret_linked is false if it has too many links, or
 * the file system has no hard links. */
static bool link_item(struct take *take, const struct item *item, bool *ret_linked)
{
    const struct backup_file *copy = backup_list_find(&take->before_list, item->name);
    struct backup_file file = { .name = copy->name,
                                .size = copy->size,
                                .crc = copy->crc,
                                .inode = item->inode,
                                .changed_ns = item->changed_ns };
    int linked = linkat(take->before, item->name, take->made, item->name, 0);

    *ret_linked = linked == 0;
    if (linked == 0) {
        backup_list_add(&take->list, &file);
        take->work->progress.linked_bytes += item->bytes;
        return true;
    }
    return errno == EMLINK || errno == EPERM || errno == EOPNOTSUPP || errno == ENOENT ||
           work_fail_errno(take->work, "link %s", item->name);
}

static bool copy_from(struct take *take, const struct item *item, int from)
{
    struct backup_file file = { .name = (char *)(uintptr_t)item->name,
                                .size = item->size,
                                .inode = item->inode,
                                .changed_ns = item->changed_ns };
    int to = create(take, item->name);
    bool copied =
        to >= 0 && file_copy(take->work, from, to, item->name, item->end, item->size, &file.crc);

    if (to >= 0)
        close(to);
    if (copied)
        backup_list_add(&take->list, &file);
    return copied;
}

static bool compare(struct take *take, const struct item *item, int from, bool *ret_same)
{
    int copy = openat(take->before, item->name, O_RDONLY | O_CLOEXEC);
    bool compared;

    *ret_same = false;
    if (copy < 0)
        return true;
    compared = file_covers(take->work, from, copy, item->name, ret_same);
    close(copy);
    return compared;
}

/* Handles an item that cannot be hard-linked without a check: compares it with the previous copy
 * and links it, or copies it. */
static bool read_item(struct take *take, const struct item *item)
{
    int from = openat(item->folder, item->base, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool done = from >= 0 || work_fail_errno(take->work, "open %s", item->name);
    bool same = false, linked = false;

    if (done && item->way == ITEM_COMPARE)
        done = compare(take, item, from, &same);
    if (done && same)
        done = link_item(take, item, &linked);
    if (done && !linked)
        done = copy_from(take, item, from);
    if (from >= 0)
        close(from);
    return done;
}

static bool is_log(const char *name)
{
    return bytes_has_suffix(bytes_from_string(name), (struct bytes)BYTES(".log"));
}

static bool take_item(struct take *take, const struct item *item)
{
    const struct backup_source *source = take->source;
    bool linked = false;

    if (item->way == ITEM_LINK && !link_item(take, item, &linked))
        return false;
    if (!linked && !read_item(take, item))
        return false;
    if (item->extent > 0 && !source->copied(take->work, source->context, item->extent))
        return false;
    return work_file(take->work);
}

static bool copy_state(struct take *take, const struct backup_state *state)
{
    struct plan plan;
    bool copied = plan_make(take->work, take->source, state, &take->before_list, &plan);

    if (!copied)
        return false;
    for (size_t i = 0; i < plan.count && copied; i++)
        copied = take_item(take, &plan.items[i]);
    plan_release(&plan);
    return copied;
}

/* ---- sealing ---- */

/* Lists files written or truncated by sealing. */
static bool list_sealed(struct take *take, const char *name)
{
    struct backup_file file = { .name = (char *)(uintptr_t)name };
    int fd = openat(take->made, name, O_RDONLY | O_CLOEXEC);
    struct stat status = { 0 };
    bool listed = fd >= 0 && fstat(fd, &status) == 0;

    if (!listed)
        work_fail_errno(take->work, "open %s", name);
    file.size = (uint64_t)status.st_size;
    listed = listed && file_sum(take->work, fd, name, &file.crc);
    if (fd >= 0)
        close(fd);
    if (listed)
        backup_list_add(&take->list, &file);
    return listed;
}

/* Lists logs again, which sealing truncates. */
static bool list_logs_again(struct take *take)
{
    struct backup_list *list = &take->list;
    size_t count = list->count, kept = 0;
    struct backup_list logs = { 0 };
    bool listed = true;

    for (size_t i = 0; i < count; i++) {
        if (is_log(list->files[i].name)) {
            backup_list_add(&logs, &list->files[i]);
            free(list->files[i].name);
        } else {
            list->files[kept++] = list->files[i];
        }
    }
    list->count = kept;
    for (size_t i = 0; i < logs.count && listed; i++)
        listed = list_sealed(take, logs.files[i].name);
    backup_list_release(&logs);
    return listed;
}

/* Copies the keys of a directory that is encrypted at rest. They do not change while a server
 * runs. */
static bool copy_keys(struct take *take)
{
    char *path = file_path(take->source->location, KEYRING_FILE);
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status = { .st_size = 0 };
    bool copied = from >= 0 || errno == ENOENT || work_fail_errno(take->work, "open %s", path);

    if (from >= 0) {
        struct item item = { .name = KEYRING_FILE };

        copied = fstat(from, &status) == 0 || work_fail_errno(take->work, "read %s", path);
        item.size = item.end = (uint64_t)status.st_size;
        copied = copied && copy_from(take, &item, from);
        close(from);
    }
    free(path);
    return copied;
}

static bool seal(struct take *take)
{
    const char *problem = "";
    enum store_result result = store_backup_seal(take->made, &take->list.sequence, &problem);

    if (result)
        return work_fail(take->work, "the copy is not a valid data folder: %s", problem);
    return list_logs_again(take) && list_sealed(take, "synced") && list_sealed(take, "format");
}

static bool write_list(struct take *take)
{
    int fd = create(take, BACKUP_LIST);
    bool written;

    if (fd < 0)
        return false;
    backup_list_sort(&take->list);
    written = backup_list_write(&take->list, fd);
    if (!written)
        work_fail_errno(take->work, "write " BACKUP_LIST);
    close(fd);
    return written;
}

/* Makes it the newest backup. */
static bool name_it(struct take *take)
{
    if (!folder_sync_parts(take->work, take->made) || !write_list(take) ||
        !folder_sync_all(take->work, take->made))
        return false;
    if (renameat(take->target, take->temporary, take->target, take->name) < 0)
        return work_fail_errno(take->work, "rename %s", take->temporary);
    return folder_sync_all(take->work, take->target);
}

static bool make_folders(struct take *take)
{
    take->made = folder_at(take->work, take->target, take->temporary, true);
    return take->made >= 0 && folder_make_parts(take->work, take->made);
}

static bool take_state(struct take *take)
{
    const struct backup_source *source = take->source;
    struct backup_state state;
    bool taken;

    if (!source->begin(take->work, source->context, &state))
        return false;
    taken = copy_keys(take) && copy_state(take, &state);
    /* Called even after a failure. Its result applies to everything copied so far. */
    taken = source->end(take->work, source->context) && taken;
    return taken && seal(take) && name_it(take);
}

bool backup_take(struct backup_work *work, const struct backup_source *source, const char *to,
                 char ret_name[BACKUP_NAME_SIZE])
{
    struct take take = { .work = work, .source = source, .target = -1, .before = -1, .made = -1 };
    char newest[BACKUP_NAME_SIZE] = "";
    bool taken;

    work_begin(work);
    taken = open_target(&take, to) && remove_begun(&take) &&
            backup_find_newest(work, take.target, newest);
    if (taken && newest[0] && !work->shares_nothing)
        open_before(&take, newest);
    taken = taken && choose_name(&take, newest);
    if (taken) {
        taken = make_folders(&take) && take_state(&take);
        if (!taken)
            folder_remove(work, take.target, take.temporary);
    }
    memcpy(ret_name, take.name, BACKUP_NAME_SIZE);
    backup_list_release(&take.list);
    backup_list_release(&take.before_list);
    for (unsigned i = 0; i < 3; i++) {
        int fd = i == 0 ? take.made : i == 1 ? take.before : take.target;

        if (fd >= 0)
            close(fd);
    }
    return taken;
}
