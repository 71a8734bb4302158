/* Zeros at the end of the newest log. */
#include "store/embedded/log_space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/embedded/records_files.h"

/* Zeros are prepared for the current length of the log, or for a quarter of the previous log's
 * length, within these bounds. So a short log costs little, and a long one has few of the slower
 * syncs that prepare space. */
#define AHEAD_MIN   (64u << 10)
#define AHEAD_MAX   (4u << 20)
/* Not counted in keyspace_logged(): headers of fragments, at most 13 bytes in 32 KiB. */
#define UNCOUNTED   (16u << 10)
#define WRITE_BYTES (64u << 10)

static bool writes_in_place(int fd)
{
    struct statfs status;

    return fstatfs(fd, &status) == 0 &&
           (status.f_type == EXT4_SUPER_MAGIC || status.f_type == XFS_SUPER_MAGIC);
}

void log_space_open(struct log_space *space, int records)
{
    *space = (struct log_space){ .records = writes_in_place(records) ? records : -1, .log = -1 };
}

static void close_log(struct log_space *space)
{
    if (space->log >= 0)
        close(space->log);
    space->log = -1;
}

/* If there is no log, nothing is prepared until the next log. */
static void open_newest(struct log_space *space)
{
    char name[RECORDS_NAME_SIZE];
    uint64_t number;
    off_t size;

    /* Each completed flush and compaction changes the version, while the log may continue. */
    if (records_newest_log(space->records, &number) || number == space->number)
        return;
    close_log(space);
    space->number = number;
    records_file_name(name, RECORDS_LOG, number);
    space->log = openat(space->records, name, O_WRONLY | O_APPEND | O_CLOEXEC);
    size = space->log < 0 ? -1 : lseek(space->log, 0, SEEK_END);
    if (size < 0)
        close_log(space);
    space->ready = size > 0 ? (uint64_t)size : 0;
    space->last = space->logged - space->before;
    space->before = space->logged;
}

/* Returns false if no more of this log can be prepared. */
static bool add_zeros(struct log_space *space, size_t size)
{
    static const char zeros[WRITE_BYTES];
    off_t end;

    while (size > 0) {
        ssize_t written = write(space->log, zeros, size < sizeof zeros ? size : sizeof zeros);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        size -= (size_t)written;
    }
    end = lseek(space->log, 0, SEEK_CUR);
    if (end < 0)
        return false;
    space->ready = (uint64_t)end;
    return true;
}

/* Returns how much to prepare for a log of this length. A log after a long one will be long too. */
static size_t ahead_of(const struct log_space *space, uint64_t length)
{
    uint64_t ahead = length > space->last / 4 ? length : space->last / 4;

    return ahead < AHEAD_MIN ? AHEAD_MIN : ahead > AHEAD_MAX ? AHEAD_MAX : (size_t)ahead;
}

void log_space_prepare(struct log_space *space, const struct keyspace *keyspace)
{
    uint64_t logged, version, length;

    if (space->records < 0)
        return;
    /* In this order, nothing written before a log is counted for it. */
    logged = keyspace_logged(keyspace);
    version = keyspace_version(keyspace);
    if (version != space->version)
        open_newest(space);
    space->version = version;
    space->logged = logged;
    length = logged - space->before + UNCOUNTED;
    while (space->log >= 0 && length > space->ready) {
        if (!add_zeros(space, ahead_of(space, length)))
            close_log(space);
    }
}

void log_space_close(struct log_space *space)
{
    close_log(space);
}
