/* See safe_path.h. */
#include "transfer/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_MAX       200u
#define PATH_BYTES_MAX 900u
#define NAME_BYTES     256u

/* ---- opening ---- */

static bool is_part(struct bytes part)
{
    return part.len > 0 && part.len < NAME_BYTES && !bytes_is(part, ".") && !bytes_is(part, "..") &&
           !memchr(part.ptr, '\0', part.len);
}

/* Opens only regular files, and never blocks, for example for the other end of a pipe. */
static int open_file(int at, const char *name, bool makes)
{
    int fd = openat(at, name,
                    (makes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK |
                        O_CLOEXEC,
                    0600);
    struct stat status;

    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

static int open_part(int at, struct bytes part, bool is_last, bool makes)
{
    char name[NAME_BYTES];

    if (!is_part(part)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(name, part.ptr, part.len);
    name[part.len] = '\0';
    if (is_last)
        return open_file(at, name, makes);
    if (makes && mkdirat(at, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int safe_path_open(int folder, struct bytes path, bool makes)
{
    int at = folder;
    struct bytes part;

    do {
        int next, error;

        bytes_cut(path, '/', &part, &path);
        next = open_part(at, part, !path.ptr, makes);
        error = errno;
        if (at != folder)
            close(at);
        errno = error;
        at = next;
    } while (path.ptr && at >= 0);
    return at;
}

/* ---- paths ---- */

static bool is_safe(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c >= 0x80 || c == '.' || c == '-' || c == '_' || c == ' ' || c == '(' || c == ')' ||
           c == '$';
}

/* The encoding is reversible: '%' is always encoded, so a path with a single '%' collides with no
 * name. */
static void add_part(struct text *to, struct bytes part)
{
    bool is_dots = bytes_is(part, ".") || bytes_is(part, "..");

    if (part.len == 0)
        text_add_char(to, '%');
    for (size_t i = 0; i < part.len; i++) {
        unsigned char c = (unsigned char)part.ptr[i];

        if (is_safe(c) && !is_dots)
            text_add_char(to, (char)c);
        else
            text_printf(to, "%%%02X", c);
    }
}

static bool add_name(struct text *to, struct bytes name)
{
    struct bytes part;
    size_t from;

    do {
        bytes_cut(name, '/', &part, &name);
        text_add_char(to, '/');
        from = to->len;
        add_part(to, part);
        if (to->len - from > PART_MAX)
            return false;
    } while (name.ptr);
    return to->len <= PATH_BYTES_MAX;
}

static void add_hash(struct text *to, struct bytes name)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;

    sha256_init(&hash);
    sha256_update(&hash, name.len, (const uint8_t *)name.ptr);
    sha256_digest(&hash, sizeof digest, digest);
    text_add_string(to, "/%/");
    for (size_t i = 0; i < sizeof digest; i++)
        text_printf(to, "%02x", digest[i]);
}

struct bytes safe_path_make(struct arena *arena, const char *top, struct bytes parent,
                            struct bytes name, unsigned state, bool is_plain)
{
    struct text path;
    size_t begin;

    text_init(&path, arena, name.len + 64);
    text_add_string(&path, top);
    text_add_char(&path, '/');
    add_part(&path, parent);
    begin = path.len;
    if (!is_plain || !add_name(&path, name)) {
        path.len = begin;
        add_hash(&path, name);
    }
    if (state > 0)
        text_printf(&path, "%%~%u", state);
    return text_bytes(&path);
}
