/* Creates, locks and identifies the data folder. */
#include "store/embedded/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/backup.h"
#include "store/keyring.h"

static const char format[] = "lagra store 1\n";
#define FORMAT_PREFIX "lagra store "
#define FORMAT_NUMBER "1"
/* This many bytes of an unknown file `format` are shown. */
#define FORMAT_SHOWN  32

/* Formats the problem for the operator; valid until the next one. Called on the startup thread. */
static __attribute__((format(printf, 1, 2))) const char *problem_text(const char *words, ...)
{
    static char text[1024];
    va_list args;

    va_start(args, words);
    vsnprintf(text, sizeof text, words, args);
    va_end(args);
    return text;
}

/* Adds the reason in errno. */
static enum store_result failed(const char *what, const char *problem, const char **ret_problem)
{
    *ret_problem = problem_text("%s: %s: %s", problem, what, strerror(errno));
    return STORE_IO;
}

/* ---- identification ---- */

/* The contents of a folder, as indicated by its names. */
struct contents {
    bool has_format, has_records, has_synced, has_own, has_backup_list;
    char azurites[NAME_MAX + 1]; /* one such name; empty: none */
    char others[NAME_MAX + 1];   /* a name of neither, and not harmless */
};

static bool is_own_name(const char *name)
{
    static const char *const own[] = { "lock",          "format",         "format.new",
                                       "synced",        "records",        "extents",
                                       "aside",         "ballast",        "salvage.tmp",
                                       "backup.tmp",    "backup.tmp.tmp", BACKUP_LIST,
                                       "admin.sock",    "scrub",          "scrub.new",
                                       SUMS_FOLDER,     "prove-tables",   "backed-up",
                                       "backed-up.new", KEYRING_FILE,     KEYRING_FILE ".new" };

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(name, own[i]) == 0)
            return true;
    }
    return strncmp(name, "manifest-", strlen("manifest-")) == 0;
}

/* Returns true for files of Azurite 3: its databases and folders of extents. */
static bool is_azurites_name(const char *name)
{
    return strncmp(name, "__azurite_db_", strlen("__azurite_db_")) == 0 ||
           strcmp(name, "__blobstorage__") == 0 || strcmp(name, "__queuestorage__") == 0 ||
           strcmp(name, "__tablestorage__") == 0;
}

/* Returns true for names of files that are neither ours nor data of other programs. Hidden files
 * are left by desktops, volumes and version control. */
static bool is_harmless_name(const char *name)
{
    return name[0] == '.' || strcmp(name, "lost+found") == 0;
}

/* Returns true if it is one of the files named by the operator. */
static bool is_known(int folder, const char *name, const char *const *known_files)
{
    struct stat found, known;

    if (!known_files || fstatat(folder, name, &found, 0) < 0)
        return false;
    for (; *known_files; known_files++) {
        if (stat(*known_files, &known) == 0 && known.st_dev == found.st_dev &&
            known.st_ino == found.st_ino)
            return true;
    }
    return false;
}

static void look_at_name(int folder, const char *name, const char *const *known_files,
                         struct contents *contents)
{
    contents->has_format |= strcmp(name, "format") == 0;
    contents->has_records |= strcmp(name, "records") == 0;
    contents->has_synced |= strcmp(name, "synced") == 0;
    contents->has_backup_list |= strcmp(name, BACKUP_LIST) == 0;
    if (is_own_name(name))
        contents->has_own = true;
    else if (is_azurites_name(name))
        snprintf(contents->azurites, sizeof contents->azurites, "%s", name);
    else if (!is_harmless_name(name) && !is_known(folder, name, known_files))
        snprintf(contents->others, sizeof contents->others, "%s", name);
}

static bool look_at(int folder, const char *const *known_files, struct contents *ret_contents)
{
    DIR *dir = file_list(folder, ".");
    const struct dirent *entry;
    bool looked = dir;

    *ret_contents = (struct contents){ .has_format = false };
    while (looked && (entry = file_next_entry(dir)))
        look_at_name(folder, entry->d_name, known_files, ret_contents);
    looked = looked && errno == 0;
    if (dir)
        closedir(dir);
    return looked;
}

/* A start writes `format` first, so a folder without it is ours only if this file was lost and the
 * rest exists. */
static bool holds_store(const struct contents *contents)
{
    return contents->has_records && (contents->has_format || contents->has_synced);
}

/* Returns the reason why the folder is not suitable for this use, or NULL if it is. */
static const char *refusal(const struct contents *contents, enum folder_use use)
{
    const char *other = contents->others[0] ? contents->others : "records";

    if (use != FOLDER_FILL && contents->has_backup_list)
        return "it is a backup, whose files other backups may share. Nothing was changed. To "
               "create a data directory from it:\n  lagra backup restore FOLDER NEW-FOLDER";
    if (use != FOLDER_FILL && holds_store(contents))
        return NULL;
    if (use == FOLDER_FILL && (contents->has_own || contents->others[0] || contents->azurites[0]))
        return "the new folder is not empty";
    if (contents->azurites[0])
        return problem_text("Azurite wrote it (%s), and its files are not read. Nothing was "
                            "changed: name another folder with --location",
                            contents->azurites);
    if (use == FOLDER_CHECK)
        return "it is not a data directory of Lagra. Nothing was changed";
    if (!contents->has_format && (contents->others[0] || contents->has_records))
        return problem_text("it holds files that are not Lagra's (%s). Nothing was changed: name "
                            "an empty or a new folder with --location",
                            other);
    return NULL;
}

static enum store_result check_use(int folder, enum folder_use use, const char *const *known_files,
                                   struct contents *ret_contents, const char **ret_problem)
{
    const char *problem;

    if (!look_at(folder, known_files, ret_contents))
        return failed("list", "the data directory cannot be read", ret_problem);
    problem = refusal(ret_contents, use);
    if (!problem)
        return STORE_OK;
    *ret_problem = problem;
    return STORE_CORRUPT;
}

static enum store_result take_lock(int folder, int *ret_lock, const char **ret_problem)
{
    int fd = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return failed("open `lock`", "the data directory cannot be written", ret_problem);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *ret_lock = fd;
        return STORE_OK;
    }
    if (errno == EWOULDBLOCK) {
        close(fd);
        *ret_problem = "another process is using this data directory";
        return STORE_BUSY;
    }
    failed("lock", "the data directory cannot be locked", ret_problem);
    close(fd);
    return STORE_IO;
}

/* Creates the file atomically. */
bool folder_write_format(int folder)
{
    int fd = openat(folder, "format.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written;

    if (fd < 0)
        return false;
    written = write(fd, format, sizeof format - 1) == (ssize_t)sizeof format - 1 && fsync(fd) == 0;
    close(fd);
    return written && renameat(folder, "format.new", folder, "format") == 0 && fsync(folder) == 0;
}

/* Describes an unknown file `format`, with control characters as dots. */
static const char *explain_format(const char *found, size_t size)
{
    char shown[FORMAT_SHOWN + 1];
    size_t length = size < FORMAT_SHOWN ? size : FORMAT_SHOWN;
    size_t prefix = strlen(FORMAT_PREFIX);
    size_t digits;

    for (size_t i = 0; i < length; i++)
        shown[i] = found[i] >= ' ' && found[i] <= '~' ? found[i] : '.';
    shown[length] = '\0';
    digits = length > prefix ? strspn(shown + prefix, "0123456789") : 0;
    if (digits > 0 && strncmp(shown, FORMAT_PREFIX, prefix) == 0 && prefix + digits + 1 == length &&
        found[length - 1] == '\n')
        return problem_text("its format is %.*s, and this program reads format " FORMAT_NUMBER
                            ": another version of Lagra wrote it. Nothing was changed",
                            (int)digits, shown + prefix);
    return problem_text(
        "its file `format` says \"%s\", and this program reads \"" FORMAT_PREFIX FORMAT_NUMBER
        "\". Nothing was changed",
        shown);
}

/* Returns STORE_NOT_FOUND if the file does not exist. */
static enum store_result check_format(int folder, const char **ret_problem)
{
    char found[FORMAT_SHOWN + 1];
    ssize_t size;
    int fd = openat(folder, "format", O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return STORE_NOT_FOUND;
    if (fd < 0)
        return failed("open `format`", "the data directory cannot be read", ret_problem);
    size = file_read_at(fd, found, sizeof found, 0);
    close(fd);
    if (size < 0)
        return failed("read `format`", "the data directory cannot be read", ret_problem);
    if (size == (ssize_t)sizeof format - 1 && memcmp(found, format, (size_t)size) == 0)
        return STORE_OK;
    *ret_problem = explain_format(found, (size_t)size);
    return STORE_CORRUPT;
}

enum store_result folder_is_ours(int folder, const char **ret_problem, const char **ret_doubt)
{
    struct contents contents;
    enum store_result result = check_use(folder, FOLDER_CHECK, NULL, &contents, ret_problem);

    *ret_doubt = NULL;
    if (!result && check_format(folder, ret_doubt) == STORE_NOT_FOUND)
        *ret_doubt = "its file `format` is lost";
    return result;
}

/* Allows only the owner to read or enter the folder, and to read files in it, regardless of the
 * umask when it was created. */
static bool close_to_others(int folder)
{
    DIR *dir = file_list(folder, ".");
    const struct dirent *entry;
    bool closed = dir && fchmod(folder, 0700) == 0;

    while (closed && (entry = file_next_entry(dir))) {
        struct stat status;

        if (entry->d_name[0] == '.' ||
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISREG(status.st_mode) && (status.st_mode & 077))
            closed = fchmodat(folder, entry->d_name, 0600, 0) == 0;
    }
    closed = closed && errno == 0;
    if (dir)
        closedir(dir);
    return closed;
}

static enum store_result open_subfolder(const struct folder *folder, const char *name, int *ret_fd,
                                        const char **ret_problem)
{
    int fd;

    if (mkdirat(folder->fd, name, 0700) < 0 && errno != EEXIST)
        return failed(name, "the data directory cannot be written", ret_problem);
    fd = openat(folder->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed(name, "the data directory cannot be read", ret_problem);
    if (!close_to_others(fd)) {
        failed(name, "the data directory cannot be closed to other users", ret_problem);
        close(fd);
        return STORE_IO;
    }
    *ret_fd = fd;
    return STORE_OK;
}

static enum store_result open_subfolders(struct folder *folder, const char **ret_problem)
{
    int records;
    enum store_result result = open_subfolder(folder, "records", &records, ret_problem);

    if (result)
        return result;
    close(records);
    return open_subfolder(folder, "extents", &folder->extents, ret_problem);
}

enum store_result folder_sync(const struct folder *folder, const char **ret_problem)
{
    if (fsync(folder->fd) == 0 && file_sync_name(folder->fd))
        return STORE_OK;
    return failed("sync", "the data directory cannot be written", ret_problem);
}

/* Before the lock is acquired, only the folder itself is created. */
static enum store_result claim(struct folder *folder, enum folder_use use,
                               const char *const *known_files, const char **ret_problem)
{
    struct contents contents;
    enum store_result result = check_use(folder->fd, use, known_files, &contents, ret_problem);
    enum store_result has_format;

    if (result)
        return result;
    has_format = check_format(folder->fd, ret_problem);
    if (has_format && has_format != STORE_NOT_FOUND)
        return has_format;
    result = take_lock(folder->fd, &folder->lock_file, ret_problem);
    if (!result && has_format == STORE_NOT_FOUND && !folder_write_format(folder->fd))
        result = failed("write `format`", "the data directory cannot be written", ret_problem);
    return result;
}

/* ---- keys ---- */

/* Creates the keys of a new folder, or copies them from another one. */
static enum store_result make_keys(struct folder *folder, const struct store_options *options,
                                   const char **ret_problem)
{
    enum store_result result;
    int from;

    if (!options->keys_from)
        return keyring_create(folder->fd, options->master_keys, &folder->keyring, ret_problem);
    from = open(options->keys_from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (from < 0)
        return failed("open", "the directory with its keys cannot be read", ret_problem);
    result = keyring_copy(folder->fd, from, options->master_keys, &folder->keyring, ret_problem);
    close(from);
    return result;
}

/* Called before records/ is created: a folder that has records either has keys or is not
 * encrypted. */
static enum store_result open_keys(struct folder *folder, enum folder_use use,
                                   const struct store_options *options, const char **ret_problem)
{
    bool is_new = faccessat(folder->fd, "records", F_OK, 0) < 0 && errno == ENOENT;
    enum store_result result = keyring_open(folder->fd, options->master_keys,
                                            use == FOLDER_SERVE ? KEYRING_SERVE : KEYRING_LOOK,
                                            &folder->keyring, ret_problem);

    if (result != STORE_NOT_FOUND)
        return result;
    if (is_new && use != FOLDER_CHECK)
        return make_keys(folder, options, ret_problem);
    *ret_problem = "it is not encrypted, and --encryptionKey encrypts only new data directories. "
                   "Nothing was changed: start without this option, or copy the data to a new data "
                   "directory with lagra import";
    return STORE_CORRUPT;
}

enum store_result folder_open(const struct store_options *options, enum folder_use use,
                              struct folder *ret_folder, const char **ret_problem)
{
    struct folder folder = { .fd = -1, .lock_file = -1, .extents = -1 };
    const char *location = options->location;
    enum store_result result;

    /* RocksDB creates its files according to the umask. */
    umask(077);
    if (use != FOLDER_CHECK && !file_make_folders(location))
        return failed("make", "the data directory cannot be created", ret_problem);
    folder.fd = open(location, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder.fd < 0)
        return failed("open", "the data directory cannot be opened", ret_problem);
    result = claim(&folder, use, options->known_files, ret_problem);
    if (!result)
        result = open_keys(&folder, use, options, ret_problem);
    if (!result)
        result = open_subfolders(&folder, ret_problem);
    if (!result) {
        folder.records_path = file_path(location, "records");
        *ret_folder = folder;
        return STORE_OK;
    }
    keyring_free(folder.keyring);
    if (folder.lock_file >= 0)
        close(folder.lock_file);
    close(folder.fd);
    return result;
}

void folder_release(struct folder *folder)
{
    close(folder->fd);
    free(folder->records_path);
}
