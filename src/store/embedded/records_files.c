/* Names, lists, moves and copies RocksDB's files. */
#include "store/embedded/records_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"

#define COPY_BYTES     65536u
#define MANIFEST_BEGIN "MANIFEST-"

void records_file_name(char to[RECORDS_NAME_SIZE], enum records_kind kind, uint64_t number)
{
    static const char *const formats[] = {
        [RECORDS_TABLE] = "%06" PRIu64 ".sst",
        [RECORDS_LOG] = "%06" PRIu64 ".log",
        [RECORDS_MANIFEST] = MANIFEST_BEGIN "%06" PRIu64,
    };

    snprintf(to, RECORDS_NAME_SIZE, formats[kind], number);
}

bool records_parse_name(const char *name, enum records_kind *ret_kind, uint64_t *ret_number)
{
    struct bytes rest = bytes_from_string(name);
    const struct bytes table = BYTES(".sst"), log = BYTES(".log"), manifest = BYTES(MANIFEST_BEGIN);

    if (bytes_has_prefix(rest, manifest)) {
        *ret_kind = RECORDS_MANIFEST;
        rest = bytes_from(rest, manifest.len);
    } else if (bytes_has_suffix(rest, table) || bytes_has_suffix(rest, log)) {
        *ret_kind = bytes_has_suffix(rest, table) ? RECORDS_TABLE : RECORDS_LOG;
        rest.len -= table.len;
    } else {
        return false;
    }
    return bytes_parse_u64(rest, UINT64_MAX, ret_number);
}

static int by_number(const void *a, const void *b)
{
    const struct records_file *left = a, *right = b;

    return left->number < right->number ? -1 : left->number > right->number;
}

enum store_result records_files_list(int records, struct records_files *ret_files)
{
    struct records_files files = { 0 };
    size_t capacity = 0;
    DIR *dir = file_list(records, ".");
    const struct dirent *entry;
    int error;

    if (!dir) {
        log_errno("store: list the folder of records");
        return STORE_IO;
    }
    while ((entry = file_next_entry(dir))) {
        struct records_file file;
        struct stat status;

        if (!records_parse_name(entry->d_name, &file.kind, &file.number))
            continue;
        if (fstatat(records, entry->d_name, &status, 0) < 0) {
            if (errno == ENOENT)
                continue;
            break;
        }
        file.size = (uint64_t)status.st_size;
        if (files.count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 64;
            files.list = xrealloc(files.list, capacity * sizeof files.list[0]);
        }
        files.list[files.count++] = file;
    }
    error = errno; /* after the last entry: a file that is not listed would count as missing */
    closedir(dir);
    if (error) {
        errno = error;
        log_errno("store: list the folder of records");
        records_files_release(&files);
        return STORE_IO;
    }
    if (files.count > 0)
        qsort(files.list, files.count, sizeof files.list[0], by_number);
    *ret_files = files;
    return STORE_OK;
}

enum store_result records_log_bytes(int records, uint64_t *ret_bytes)
{
    struct records_files files;
    enum store_result result = records_files_list(records, &files);

    if (result)
        return result;
    *ret_bytes = 0;
    for (size_t i = 0; i < files.count; i++)
        if (files.list[i].kind == RECORDS_LOG)
            *ret_bytes += files.list[i].size;
    records_files_release(&files);
    return STORE_OK;
}

enum store_result records_newest_log(int records, uint64_t *ret_number)
{
    DIR *dir = file_list(records, ".");
    const struct dirent *entry;
    int error = errno;

    *ret_number = 0;
    while (dir && (entry = file_next_entry(dir))) {
        enum records_kind kind;
        uint64_t number;

        if (records_parse_name(entry->d_name, &kind, &number) && kind == RECORDS_LOG &&
            number > *ret_number)
            *ret_number = number;
    }
    if (dir) {
        error = errno;
        closedir(dir);
    }
    if (!error)
        return STORE_OK;
    errno = error;
    log_errno("store: list the folder of records");
    return STORE_IO;
}

void records_files_release(struct records_files *files)
{
    free(files->list);
}

const struct records_file *records_files_find(const struct records_files *files,
                                              enum records_kind kind, uint64_t number)
{
    size_t from = 0, to = files->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (files->list[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    while (from < files->count && files->list[from].number == number) {
        if (files->list[from].kind == kind)
            return &files->list[from];
        from++;
    }
    return NULL;
}

/* ---- aside ---- */

/* Removes the oldest file in aside/ if all files together exceed this size. Returns true if it
 * did. */
static bool remove_oldest(int aside, uint64_t most)
{
    struct timespec oldest = { 0 };
    char name[NAME_MAX + 1] = "";
    uint64_t bytes = 0;
    DIR *dir = file_list(aside, ".");
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        struct stat status;

        if (entry->d_name[0] == '.' || fstatat(aside, entry->d_name, &status, 0) < 0)
            continue;
        bytes += (uint64_t)status.st_size;
        if (!*name || status.st_ctim.tv_sec < oldest.tv_sec ||
            (status.st_ctim.tv_sec == oldest.tv_sec && status.st_ctim.tv_nsec < oldest.tv_nsec)) {
            oldest = status.st_ctim;
            snprintf(name, sizeof name, "%s", entry->d_name);
        }
    }
    if (dir)
        closedir(dir);
    return bytes > most && unlinkat(aside, name, 0) == 0;
}

void records_empty_aside(int folder)
{
    int aside = openat(folder, "aside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (aside < 0)
        return;
    while (remove_oldest(aside, 0))
        ;
    close(aside);
}

enum store_result records_move_aside(int folder, int records, const char *name, const char *why)
{
    char to[RECORDS_NAME_SIZE + 16];
    bool moved = false, is_taken = true; /* the name is in use */
    int aside;

    if ((mkdirat(folder, "aside", 0700) < 0 && errno != EEXIST) ||
        (aside = openat(folder, "aside", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        log_errno("store: create the folder `aside`");
        return STORE_IO;
    }
    for (unsigned i = 0; i < 100000 && is_taken; i++) {
        snprintf(to, sizeof to, i > 0 ? "%s.%u" : "%s", name, i);
        moved = renameat2(records, name, aside, to, RENAME_NOREPLACE) == 0;
        is_taken = !moved && errno == EEXIST;
    }
    if (moved)
        log_line(LOG_WARN, "store: moved records/%s to aside/%s: %s", name, to, why);
    else
        log_errno("store: move records/%s aside", name);
    while (moved && remove_oldest(aside, ASIDE_BYTES))
        ;
    close(aside);
    return moved ? STORE_OK : STORE_IO;
}

/* ---- durability ---- */

typedef bool sync_step(int fd);

/* Starts writing, which allocates the blocks of all files, so that one commit of the file system's
 * journal covers them. */
static bool begin_writing(int fd)
{
    return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0;
}

/* An empty file has only its name to sync. */
static bool make_durable(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && (status.st_size == 0 || fdatasync(fd) == 0);
}

static bool each_file(int records, sync_step *step)
{
    DIR *dir = file_list(records, ".");
    const struct dirent *entry;
    bool done = dir;

    while (done && (entry = file_next_entry(dir))) {
        int fd;

        if (entry->d_name[0] == '.')
            continue;
        fd = openat(records, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        done = fd >= 0 && step(fd);
        if (fd >= 0)
            close(fd);
    }
    done = done && errno == 0;
    if (dir)
        closedir(dir);
    return done;
}

enum store_result records_sync_all(int folder)
{
    int records = openat(folder, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced;

    if (records < 0) {
        log_errno("store: open the folder of records");
        return STORE_IO;
    }
    /* if that is not supported, each file needs its own commit */
    (void)each_file(records, begin_writing);
    synced = each_file(records, make_durable) && fsync(records) == 0;
    if (!synced)
        log_errno("store: sync the folder of records");
    close(records);
    return synced ? STORE_OK : STORE_IO;
}

/* ---- CURRENT ---- */

static ssize_t read_logged(int fd, char *to, size_t size, uint64_t offset)
{
    ssize_t n = file_read_at(fd, to, size, offset);

    if (n < 0)
        log_errno("store: read a file of records");
    return n;
}

enum store_result records_current(int records, uint64_t *ret_number)
{
    char text[RECORDS_NAME_SIZE];
    enum records_kind kind;
    ssize_t size;
    int fd = openat(records, "CURRENT", O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return STORE_NOT_FOUND;
    if (fd < 0) {
        log_errno("store: open records/CURRENT");
        return STORE_IO;
    }
    size = read_logged(fd, text, sizeof text, 0);
    close(fd);
    if (size < 0)
        return STORE_IO;
    if (size == 0 || size == (ssize_t)sizeof text || text[size - 1] != '\n')
        return STORE_NOT_FOUND;
    text[size - 1] = '\0';
    return strlen(text) == (size_t)size - 1 && records_parse_name(text, &kind, ret_number) &&
                   kind == RECORDS_MANIFEST
               ? STORE_OK
               : STORE_NOT_FOUND;
}

enum store_result records_set_current(int records, uint64_t number)
{
    static const char temporary[] = "000000.dbtmp"; /* RocksDB removes one that is left */
    char line[RECORDS_NAME_SIZE + 1];
    size_t length;
    bool written;
    int fd = openat(records, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0) {
        log_errno("store: write CURRENT");
        return STORE_IO;
    }
    records_file_name(line, RECORDS_MANIFEST, number);
    length = strlen(line);
    line[length++] = '\n';
    written = write(fd, line, length) == (ssize_t)length && fsync(fd) == 0 &&
              renameat(records, temporary, records, "CURRENT") == 0 && fsync(records) == 0;
    if (!written)
        log_errno("store: write CURRENT");
    close(fd);
    return written ? STORE_OK : STORE_IO;
}

/* ---- bytes ---- */

enum store_result records_copy(int from_fd, int to_fd, uint64_t from, uint64_t to)
{
    char *buffer = xmalloc(COPY_BYTES);
    enum store_result result = STORE_OK;

    while (from < to && !result) {
        size_t want = to - from < COPY_BYTES ? (size_t)(to - from) : COPY_BYTES;
        ssize_t n = read_logged(from_fd, buffer, want, from);

        if (n <= 0) {
            result = STORE_IO;
        } else if (pwrite(to_fd, buffer, (size_t)n, (off_t)from) != n) {
            log_errno("store: copy a file of records");
            result = STORE_IO;
        } else {
            from += (uint64_t)n;
        }
    }
    free(buffer);
    return result;
}

enum store_result records_crc64(int fd, uint64_t length, uint64_t *ret_crc)
{
    char *buffer = xmalloc(COPY_BYTES);
    enum store_result result = STORE_OK;
    uint64_t crc = 0;

    for (uint64_t at = 0; at < length && !result;) {
        size_t want = length - at < COPY_BYTES ? (size_t)(length - at) : COPY_BYTES;
        ssize_t n = read_logged(fd, buffer, want, at);

        if (n > 0) {
            crc = crc64(crc, buffer, (size_t)n);
            at += (uint64_t)n;
        } else {
            result = n < 0 ? STORE_IO : STORE_NOT_FOUND;
        }
    }
    free(buffer);
    *ret_crc = crc;
    return result;
}
