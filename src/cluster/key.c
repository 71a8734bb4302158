/* See key.h. */
#include "cluster/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/file.h"

#define HEAD "lagra-key 1 "

void cluster_key_text_write(const uint8_t secret[NET_KEY_BYTES], char text[CLUSTER_KEY_TEXT_BYTES])
{
    size_t length = sizeof HEAD - 1;

    memcpy(text, HEAD, sizeof HEAD);
    for (size_t i = 0; i < NET_KEY_BYTES; i++, length += 2)
        snprintf(text + length, CLUSTER_KEY_TEXT_BYTES - length, "%02x", secret[i]);
    text[length++] = ' ';
    snprintf(text + length, CLUSTER_KEY_TEXT_BYTES - length, "%08x\n", crc32c(0, text, length));
}

bool cluster_key_text_read(struct bytes text, uint8_t ret_secret[NET_KEY_BYTES])
{
    const size_t head = sizeof HEAD - 1;
    char expected[CLUSTER_KEY_TEXT_BYTES];
    bool is_same;

    if (text.len < head + 2 * NET_KEY_BYTES)
        return false;
    for (size_t i = 0; i < NET_KEY_BYTES; i++) {
        int high = bytes_hex_digit(text.ptr[head + 2 * i]);
        int low = bytes_hex_digit(text.ptr[head + 2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        ret_secret[i] = (uint8_t)(high << 4 | low);
    }
    cluster_key_text_write(ret_secret, expected);
    is_same = bytes_equal_secret(text, bytes_from_string(expected));
    explicit_bzero(expected, sizeof expected);
    return is_same;
}

bool cluster_key_create(int folder)
{
    uint8_t secret[NET_KEY_BYTES];
    char text[CLUSTER_KEY_TEXT_BYTES];
    bool is_done = false;
    int fd, error;

    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        return false;
    fd = openat(folder, CLUSTER_KEY_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                0600);
    cluster_key_text_write(secret, text);
    if (fd >= 0) {
        is_done = fchmod(fd, 0600) == 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
                  fsync(fd) == 0;
        error = errno;
        close(fd);
        errno = error;
    }
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(text, sizeof text);
    return is_done;
}

static enum cluster_key_result read_key(int fd, uint8_t ret_secret[NET_KEY_BYTES],
                                        const char **ret_problem)
{
    char text[CLUSTER_KEY_TEXT_BYTES + 1];
    struct stat found;
    ssize_t n = -1;
    bool is_read;

    if (fstat(fd, &found) == 0)
        n = file_read_at(fd, text, sizeof text, 0);
    if (n < 0) {
        *ret_problem = "its file `key` cannot be read";
        return CLUSTER_KEY_UNUSABLE;
    }
    is_read = cluster_key_text_read(bytes_of(text, (size_t)n), ret_secret);
    explicit_bzero(text, sizeof text);
    if (!is_read)
        *ret_problem = "its file `key` is damaged, or of a newer version";
    else if (found.st_mode & (S_IRWXG | S_IRWXO))
        *ret_problem = "its file `key` may be read by other users (chmod 600)";
    else
        return CLUSTER_KEY_READ;
    return CLUSTER_KEY_UNUSABLE;
}

enum cluster_key_result cluster_key_read(const char *path, uint8_t ret_secret[NET_KEY_BYTES],
                                         const char **ret_problem)
{
    char *name = file_path(path, CLUSTER_KEY_NAME);
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    enum cluster_key_result result = CLUSTER_KEY_UNUSABLE;

    free(name);
    if (fd < 0 && errno == ENOENT)
        return CLUSTER_KEY_MISSING;
    if (fd < 0) {
        *ret_problem = "its file `key` cannot be opened";
        return CLUSTER_KEY_UNUSABLE;
    }
    result = read_key(fd, ret_secret, ret_problem);
    close(fd);
    return result;
}
