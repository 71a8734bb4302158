/* See backup_record.h. */
#include "admin/backup_record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/log.h"

#define NAME       "backed-up"
#define NAME_NEW   "backed-up.new"
#define BEGIN      "lagra backed up 1 "
#define LINE_BYTES 64

int64_t backup_record_read(const char *location)
{
    char *path = file_path(location, NAME);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char line[LINE_BYTES];
    ssize_t size = fd >= 0 ? file_read_at(fd, line, sizeof line, 0) : 0;
    struct bytes text = bytes_of(line, size > 0 ? (size_t)size : 0);
    uint64_t seconds = 0;

    if (fd >= 0)
        close(fd);
    free(path);
    if (!bytes_has_prefix(text, (struct bytes)BYTES(BEGIN)) || text.ptr[text.len - 1] != '\n')
        return 0;
    text = bytes_of(text.ptr + strlen(BEGIN), text.len - strlen(BEGIN) - 1);
    return bytes_parse_u64(text, INT64_MAX, &seconds) ? (int64_t)seconds : 0;
}

void backup_record_write(const char *location, int64_t seconds)
{
    char *path = file_path(location, NAME), *new_path = file_path(location, NAME_NEW);
    int fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, BEGIN "%" PRId64 "\n", seconds);
    bool written =
        fd >= 0 && write(fd, line, (size_t)length) == length && rename(new_path, path) == 0;

    if (!written)
        log_errno("record the time of the backup of %s", location);
    if (fd >= 0)
        close(fd);
    free(new_path);
    free(path);
}
