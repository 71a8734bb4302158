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
#include "base/log.h"

#define HEAD "lagra-key 1 "

static size_t write_line(const uint8_t secret[NET_KEY_BYTES], char line[CLUSTER_KEY_LINE])
{
    size_t length = sizeof HEAD - 1;

    memcpy(line, HEAD, sizeof HEAD);
    for (size_t i = 0; i < NET_KEY_BYTES; i++, length += 2)
        snprintf(line + length, CLUSTER_KEY_LINE - length, "%02x", secret[i]);
    line[length++] = ' ';
    length += (size_t)snprintf(line + length, CLUSTER_KEY_LINE - length, "%08x\n",
                               crc32c(0, line, length));
    return length;
}

void cluster_key_text_write(const struct net_secrets *secrets, char text[CLUSTER_KEY_FILE_MAX])
{
    size_t length = 0;

    for (unsigned i = 0; i < secrets->count; i++)
        length += write_line(secrets->of[i], text + length);
}

static bool read_secret(struct bytes line, uint8_t ret_secret[NET_KEY_BYTES])
{
    const size_t head = sizeof HEAD - 1;

    if (line.len < head + 2 * NET_KEY_BYTES)
        return false;
    for (size_t i = 0; i < NET_KEY_BYTES; i++) {
        int high = bytes_hex_digit(line.ptr[head + 2 * i]);
        int low = bytes_hex_digit(line.ptr[head + 2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        ret_secret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool cluster_key_text_read(struct bytes text, struct net_secrets *ret_secrets)
{
    char expected[CLUSTER_KEY_FILE_MAX] = "";
    struct bytes line, rest = text;
    bool is_read = true;

    ret_secrets->count = 0;
    while (rest.len > 0 && is_read) {
        bytes_cut(rest, '\n', &line, &rest);
        is_read = ret_secrets->count < NET_KEYS_MAX &&
                  read_secret(line, ret_secrets->of[ret_secrets->count++]);
    }
    if (is_read)
        cluster_key_text_write(ret_secrets, expected);
    is_read =
        is_read && ret_secrets->count > 0 && bytes_equal_secret(text, bytes_from_string(expected));
    explicit_bzero(expected, sizeof expected);
    return is_read;
}

bool cluster_key_add(struct net_secrets *secrets)
{
    uint8_t *secret = secrets->of[secrets->count];

    if (getrandom(secret, NET_KEY_BYTES, 0) != (ssize_t)NET_KEY_BYTES)
        return false;
    secrets->count++;
    return true;
}

bool cluster_key_write(int folder, const struct net_secrets *secrets)
{
    char text[CLUSTER_KEY_FILE_MAX];
    bool is_done;

    cluster_key_text_write(secrets, text);
    is_done = file_replace(folder, CLUSTER_KEY_NAME, bytes_from_string(text));
    explicit_bzero(text, sizeof text);
    return is_done;
}

static enum cluster_key_result read_key(int fd, struct net_secrets *ret_secrets,
                                        const char **ret_problem)
{
    char text[CLUSTER_KEY_FILE_MAX + 1];
    struct stat found;
    ssize_t n = -1;
    bool is_read;

    if (fstat(fd, &found) == 0)
        n = file_read_at(fd, text, sizeof text, 0);
    if (n < 0) {
        *ret_problem = "its file `key` cannot be read";
        return CLUSTER_KEY_UNUSABLE;
    }
    is_read = cluster_key_text_read(bytes_of(text, (size_t)n), ret_secrets);
    explicit_bzero(text, sizeof text);
    if (!is_read)
        *ret_problem = "its file `key` is damaged, or of a newer version";
    else if (found.st_mode & (S_IRWXG | S_IRWXO))
        *ret_problem = "its file `key` may be read by other users (chmod 600)";
    else
        return CLUSTER_KEY_READ;
    return CLUSTER_KEY_UNUSABLE;
}

enum cluster_key_result cluster_key_read(const char *path, struct net_secrets *ret_secrets,
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
    result = read_key(fd, ret_secrets, ret_problem);
    close(fd);
    return result;
}

void cluster_key_refresh(const char *path, struct file_mark *seen, struct net_key *key)
{
    const char *problem = "its file `key` is missing";
    char *name = file_path(path, CLUSTER_KEY_NAME);
    bool has_changed = file_has_changed(name, seen);
    struct net_secrets secrets = { .count = 0 };

    free(name);
    if (!has_changed)
        return;
    if (cluster_key_read(path, &secrets, &problem) == CLUSTER_KEY_READ &&
        net_key_renew(key, &secrets, &problem)) {
        log_line(LOG_INFO, "the cluster: its key %08x is used%s", net_key_id(secrets.of[0]),
                 secrets.count > 1 ? ", and another one is accepted" : "");
    } else {
        log_line(LOG_WARN, "the cluster: %s", problem);
        *seen = (struct file_mark){ .size = 0 };
    }
    explicit_bzero(&secrets, sizeof secrets);
}
