/* See owner_file.h. */
#include "cluster/owner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

/* Alignment for direct I/O that all file systems accept. */
#define ALIGNMENT    4096u
#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
/* Extended attribute with the client's name: ceph-fuse 16 or later, kernel client since Linux
 * 5.10. */
#define CLIENT_XATTR "ceph.client_id"

static bool write_all(int fd, const char *from, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pwrite(fd, from + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

bool owner_file_create(int folder, const char *name, const struct owner_record *record)
{
    char bytes[OWNER_FILE_BYTES] = { 0 };
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_done;
    int error;

    if (fd < 0)
        return false;
    owner_record_write(record, bytes + owner_record_offset(record));
    is_done = write_all(fd, bytes, sizeof bytes, 0) && fsync(fd) == 0;
    error = errno;
    close(fd);
    errno = error;
    return is_done && fsync(folder) == 0;
}

bool owner_file_open(const char *path, bool for_lock, struct owner_file *ret_file)
{
    int flags = (for_lock ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW;

    *ret_file = (struct owner_file){ .fd = open(path, flags | O_DIRECT) };
    if (ret_file->fd < 0 && errno == EINVAL) /* no direct I/O */
        ret_file->fd = open(path, flags);
    if (ret_file->fd < 0)
        return false;
    ret_file->buffer = aligned_alloc(ALIGNMENT, OWNER_FILE_BYTES);
    return ret_file->buffer != NULL;
}

static int set_lock(const struct owner_file *file, short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
    int result;

    do {
        result = fcntl(file->fd, F_OFD_SETLK, &lock);
    } while (result != 0 && errno == EINTR);
    return result;
}

enum owner_result owner_file_lock(struct owner_file *file)
{
    if (set_lock(file, F_WRLCK) == 0)
        return OWNER_OK;
    return errno == EAGAIN || errno == EACCES ? OWNER_HELD : OWNER_FAILED;
}

void owner_file_unlock(struct owner_file *file)
{
    (void)set_lock(file, F_UNLCK);
}

enum owner_result owner_file_read(struct owner_file *file, struct owner_record *ret_record)
{
    ssize_t n = file_read_at(file->fd, file->buffer, OWNER_FILE_BYTES, 0);

    if (n < 0)
        return OWNER_FAILED;
    if (n != (ssize_t)OWNER_FILE_BYTES || !owner_record_newest(file->buffer, ret_record))
        return OWNER_DAMAGED;
    return OWNER_OK;
}

enum owner_result owner_file_write(struct owner_file *file, const struct owner_record *record)
{
    owner_record_write(record, file->buffer);
    if (!write_all(file->fd, file->buffer, OWNER_SLOT_BYTES, owner_record_offset(record)) ||
        fdatasync(file->fd) != 0)
        return OWNER_FAILED;
    return OWNER_OK;
}

void owner_file_settle(struct owner_file *file)
{
    if (fsync(file->fd) != 0)
        log_errno("sync the file `owner` of a cell");
}

void owner_file_close(struct owner_file *file)
{
    free(file->buffer);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct owner_file){ .fd = -1 };
}

/* ---- identity ---- */

static void read_boot(struct guid *ret_boot)
{
    char text[GUID_TEXT_SIZE] = "";
    int fd = open(BOOT_ID_PATH, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        ssize_t n = file_read_at(fd, text, sizeof text - 1, 0);

        text[n > 0 ? n : 0] = '\0';
        close(fd);
    }
    if (!guid_parse(bytes_from_string(text), ret_boot))
        memset(ret_boot, 0, sizeof *ret_boot);
}

/* Replaces control characters, which a record must not contain. */
static void clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

void owner_file_identify(const struct owner_file *file, const char *address,
                         struct owner_identity *ret_owner)
{
    ssize_t n;

    memset(ret_owner, 0, sizeof *ret_owner);
    read_boot(&ret_owner->boot);
    ret_owner->pid = (uint64_t)getpid();
    if (gethostname(ret_owner->name, sizeof ret_owner->name) != 0)
        snprintf(ret_owner->name, sizeof ret_owner->name, "unknown");
    ret_owner->name[OWNER_NAME_MAX] = '\0';
    snprintf(ret_owner->address, sizeof ret_owner->address, "%s", address);
    snprintf(ret_owner->version, sizeof ret_owner->version, "%s", LAGRA_VERSION);
    ret_owner->protocol = protocol_own();
    n = fgetxattr(file->fd, CLIENT_XATTR, ret_owner->client, OWNER_CLIENT_MAX);
    ret_owner->client[n > 0 ? n : 0] = '\0';
    clean(ret_owner->name);
    clean(ret_owner->address);
    clean(ret_owner->client);
}
