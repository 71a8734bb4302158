/* Backup directories: naming, creation, removal, opening. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backup/backup_private.h"
#include "base/file.h"

int folder_at(struct backup_work *work, int folder, const char *name, bool make)
{
    int fd;

    if (make && mkdirat(folder, name, 0700) < 0) {
        work_fail_errno(work, "create the folder %s", name);
        return -1;
    }
    fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        work_fail_errno(work, "open the folder %s", name);
    return fd;
}

int folder_make(struct backup_work *work, const char *path, bool *ret_made)
{
    bool made = mkdir(path, 0700) == 0;
    int folder;

    if (!made && errno != EEXIST) {
        work_fail_errno(work, "create the folder %s", path);
        return -1;
    }
    folder = folder_at(work, AT_FDCWD, path, false);
    if (folder >= 0 && !file_sync_name(folder)) {
        work_fail_errno(work, "sync the folder of %s", path);
        close(folder);
        folder = -1;
    }
    if (folder < 0 && made)
        (void)rmdir(path);
    if (ret_made)
        *ret_made = made;
    return folder;
}

bool folder_sync_all(struct backup_work *work, int folder)
{
    return fsync(folder) == 0 || work_fail_errno(work, "sync the folder");
}

/* ---- removing ---- */

/* Removes the files of a directory, and the directory. */
static bool remove_files(struct backup_work *work, int parent, const char *name)
{
    DIR *dir = file_list(parent, name);
    const struct dirent *entry;
    bool removed = true;

    if (!dir)
        return errno == ENOENT || work_fail_errno(work, "open the folder %s", name);
    while (removed && (entry = file_next_entry(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            removed = unlinkat(dirfd(dir), entry->d_name, 0) == 0;
    removed = removed && unlinkat(parent, name, AT_REMOVEDIR) == 0;
    if (!removed)
        work_fail_errno(work, "remove the folder %s", name);
    closedir(dir);
    return removed;
}

/* ---- subdirectories ---- */

static const char *const parts[] = { "records", "extents" };

bool folder_make_parts(struct backup_work *work, int folder)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int fd = folder_at(work, folder, parts[i], true);

        if (fd < 0)
            return false;
        close(fd);
    }
    return true;
}

bool folder_sync_parts(struct backup_work *work, int folder)
{
    bool synced = true;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && synced; i++) {
        int fd = folder_at(work, folder, parts[i], false);

        synced = fd >= 0 && folder_sync_all(work, fd);
        if (fd >= 0)
            close(fd);
    }
    return synced;
}

bool folder_remove_parts(struct backup_work *work, int folder)
{
    bool removed = true;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        removed = remove_files(work, folder, parts[i]) && removed;
    return remove_files(work, folder, SUMS_FOLDER) && removed;
}

bool folder_remove(struct backup_work *work, int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool removed;

    if (fd < 0)
        return errno == ENOENT || work_fail_errno(work, "open the folder %s", name);
    /* Removes the list first: without it, the directory is not a backup. */
    removed =
        (unlinkat(fd, BACKUP_LIST, 0) == 0 || errno == ENOENT) && folder_remove_parts(work, fd);
    close(fd);
    return removed ? remove_files(work, parent, name)
                   : work_fail_errno(work, "remove the folder %s", name);
}

/* ---- names ---- */

bool backup_is_name(const char *name)
{
    static const char form[] = "99999999T999999.999Z";

    if (strlen(name) != BACKUP_NAME_SIZE - 1)
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '9' ? !isdigit((unsigned char)name[i]) : name[i] != form[i])
            return false;
    return true;
}

bool backup_find_newest(struct backup_work *work, int folder, char ret_name[BACKUP_NAME_SIZE])
{
    DIR *dir = file_list(folder, ".");
    const struct dirent *entry;
    bool listed = dir;

    ret_name[0] = '\0';
    while (dir && (entry = file_next_entry(dir)))
        if (backup_is_name(entry->d_name) && strcmp(entry->d_name, ret_name) > 0)
            memcpy(ret_name, entry->d_name, BACKUP_NAME_SIZE);
    listed = listed && errno == 0;
    if (!listed)
        work_fail_errno(work, "list the folder of backups");
    if (dir)
        closedir(dir);
    return listed;
}

/* ---- opening ---- */

static bool read_list(struct backup_work *work, int backup, struct backup_list *ret_list)
{
    int fd = openat(backup, BACKUP_LIST, O_RDONLY | O_CLOEXEC);
    bool listed;

    if (fd < 0)
        return work_fail_errno(work, "open " BACKUP_LIST);
    listed = backup_list_read(fd, ret_list);
    if (!listed && errno == 0)
        work_fail(work, BACKUP_LIST " is damaged, or another version of Lagra wrote it");
    else if (!listed)
        work_fail_errno(work, "read " BACKUP_LIST);
    close(fd);
    return listed;
}

int backup_open(struct backup_work *work, const char *folder, struct backup_list *ret_list)
{
    char name[BACKUP_NAME_SIZE];
    int fd = folder_at(work, AT_FDCWD, folder, false);
    int backup = -1;

    if (fd < 0)
        return -1;
    if (faccessat(fd, BACKUP_LIST, F_OK, 0) == 0) {
        backup = fd;
    } else if (backup_find_newest(work, fd, name)) {
        if (name[0])
            backup = folder_at(work, fd, name, false);
        else
            work_fail(work, "%s is not a backup and contains none", folder);
        close(fd);
    } else {
        close(fd);
    }
    if (backup >= 0 && !read_list(work, backup, ret_list)) {
        close(backup);
        return -1;
    }
    return backup;
}
