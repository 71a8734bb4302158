/* Verifies a backup against its file list, and restores it to a data directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backup/backup_private.h"
#include "base/file.h"
#include "store/keyring.h"

/* Computes the totals of the progress. */
static void add_up(struct backup_work *work, int backup, const struct backup_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct stat status;
        uint64_t taken = 0;

        if (fstatat(backup, list->files[i].name, &status, AT_SYMLINK_NOFOLLOW) == 0)
            taken = (uint64_t)status.st_blocks * 512;
        work->progress.files_total++;
        work->progress.bytes_total += taken < list->files[i].size ? taken : list->files[i].size;
    }
}

/* ---- verifying ---- */

struct verify {
    struct backup_work *work;
    void (*say)(struct backup_work *work, const char *sentence);
    bool is_whole;
};

static void find(struct verify *verify, const char *name, const char *what)
{
    char sentence[BACKUP_PROBLEM_SIZE];

    snprintf(sentence, sizeof sentence, "%s %s", name, what);
    verify->say(verify->work, sentence);
    if (verify->is_whole)
        work_fail(verify->work, "%s", sentence);
    verify->is_whole = false;
}

/* Returns a description of the problem, or NULL. */
static const char *check_file(struct backup_work *work, int fd, const struct backup_file *file)
{
    struct stat status;
    uint32_t crc;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return "is not a regular file";
    if ((uint64_t)status.st_size != file->size)
        return "has a different size than in the backup's list";
    if (!file_sum(work, fd, file->name, &crc))
        return "cannot be read";
    return crc == file->crc ? NULL : "is damaged";
}

static bool verify_file(struct verify *verify, int backup, const struct backup_file *file)
{
    struct backup_work *work = verify->work;
    int fd = openat(backup, file->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const char *wrong;

    if (fd < 0) {
        find(verify, file->name, errno == ENOENT ? "is missing" : strerror(errno));
        return work_file(work);
    }
    wrong = check_file(work, fd, file);
    close(fd);
    if (wrong)
        find(verify, file->name, wrong);
    return work_file(work);
}

/* Reports unlisted files, because RocksDB reads every file in its directory, and the server reads
 * every file in the directory of extents at startup. */
static bool find_strangers(struct verify *verify, int backup, const struct backup_list *list,
                           const char *folder)
{
    DIR *dir = file_list(backup, folder);
    const struct dirent *entry;
    bool listed;

    while (dir && (entry = file_next_entry(dir))) {
        char name[BACKUP_PATH_SIZE + NAME_MAX];

        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && !backup_list_find(list, name))
            find(verify, name, "is not in the backup's list");
    }
    listed = (dir && errno == 0) || work_fail_errno(verify->work, "list the folder %s", folder);
    if (dir)
        closedir(dir);
    return listed;
}

bool backup_verify(struct backup_work *work, const char *folder,
                   void (*say)(struct backup_work *work, const char *sentence))
{
    struct verify verify = { .work = work, .say = say, .is_whole = true };
    struct backup_list list;
    int backup;
    bool done = true;

    work_begin(work);
    backup = backup_open(work, folder, &list);
    if (backup < 0)
        return false;
    add_up(work, backup, &list);
    for (size_t i = 0; i < list.count && done; i++)
        done = verify_file(&verify, backup, &list.files[i]);
    done = done && find_strangers(&verify, backup, &list, "records") &&
           find_strangers(&verify, backup, &list, "extents");
    backup_list_release(&list);
    close(backup);
    return done && verify.is_whole;
}

static void say_nothing(struct backup_work *work, const char *sentence)
{
    (void)work;
    (void)sentence;
}

int backup_verify_records(struct backup_work *work, const char *folder)
{
    struct verify verify = { .work = work, .say = say_nothing, .is_whole = true };
    struct backup_list list;
    bool done = true;
    int backup;

    work_begin(work);
    backup = backup_open(work, folder, &list);
    if (backup < 0)
        return -1;
    for (size_t i = 0; i < list.count && done; i++)
        if (strncmp(list.files[i].name, "records/", 8) == 0)
            done = verify_file(&verify, backup, &list.files[i]);
    done = done && find_strangers(&verify, backup, &list, "records");
    backup_list_release(&list);
    if (done && verify.is_whole)
        return backup;
    close(backup);
    return -1;
}

/* ---- restoring ---- */

static bool restore_file(struct backup_work *work, int backup, int folder,
                         const struct backup_file *file)
{
    int from = openat(backup, file->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to =
        from >= 0 ? openat(folder, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    struct stat status;
    uint32_t crc;
    bool restored = false;

    if (to < 0 || fstat(from, &status) < 0)
        work_fail_errno(work, "copy %s", file->name);
    else if ((uint64_t)status.st_size != file->size)
        work_fail(work, "%s has a different size than in the backup's list", file->name);
    else
        restored = file_copy(work, from, to, file->name, file->size, file->size, &crc);
    if (restored && crc != file->crc)
        restored = work_fail(work, "%s is damaged", file->name);
    if (restored) /* just copied, so still cached */
        store_backup_keep_sums(folder, file->name, from, file->size);
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return restored && work_file(work);
}

/* These files make it a data directory, so they are written last. */
static bool is_seal(const char *name)
{
    return strcmp(name, "synced") == 0 || strcmp(name, "format") == 0;
}

static bool restore_all(struct backup_work *work, int backup, int folder,
                        const struct backup_list *list)
{
    static const char *const seals[] = { "synced", "format" };
    bool restored = folder_make_parts(work, folder);

    for (size_t i = 0; i < list->count && restored; i++)
        if (!is_seal(list->files[i].name))
            restored = restore_file(work, backup, folder, &list->files[i]);
    restored = restored && folder_sync_parts(work, folder);
    for (size_t i = 0; i < 2 && restored; i++) {
        const struct backup_file *file = backup_list_find(list, seals[i]);

        restored = file ? restore_file(work, backup, folder, file) && folder_sync_all(work, folder)
                        : work_fail(work, "%s is missing", seals[i]);
    }
    return restored;
}

static bool is_empty(struct backup_work *work, int folder, const char *to)
{
    DIR *dir = file_list(folder, ".");
    const struct dirent *entry;
    bool empty = true;

    while (dir && empty && (entry = file_next_entry(dir)))
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lost+found") != 0)
            empty = work_fail(work, "%s is not empty", to);
    if (!dir || (empty && errno))
        empty = work_fail_errno(work, "list the folder %s", to);
    if (dir)
        closedir(dir);
    return empty;
}

/* Removes a failed restore. path: the directory, if it was created for the restore;
 * NULL if it must not be removed. */
static void remove_restored(int folder, const char *path)
{
    struct backup_work unheard = { 0 };

    (void)unlinkat(folder, "format", 0);
    (void)unlinkat(folder, "synced", 0);
    (void)unlinkat(folder, KEYRING_FILE, 0);
    (void)folder_remove_parts(&unheard, folder);
    if (path)
        (void)rmdir(path);
}

bool backup_restore(struct backup_work *work, const char *folder, const char *to)
{
    struct backup_list list;
    bool restored = false, is_new;
    int backup, data;

    work_begin(work);
    backup = backup_open(work, folder, &list);
    if (backup < 0)
        return false;
    add_up(work, backup, &list);
    data = folder_make(work, to, &is_new);
    if (data >= 0 && is_empty(work, data, to)) {
        restored = restore_all(work, backup, data, &list);
        if (!restored)
            remove_restored(data, is_new ? to : NULL);
    }
    if (data >= 0)
        close(data);
    backup_list_release(&list);
    close(backup);
    return restored;
}
