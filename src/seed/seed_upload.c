/* Uploads directories to containers and shares. A directory must be below that of the seed file;
 * links, and entries that are neither files nor directories, are errors, so that nothing from
 * elsewhere is uploaded. */
#include "seed/seed_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/url.h"
#include "base/file.h"

#define DEPTH_MAX    32u
#define NAME_MAX_LEN 1024u
#define RANGE_BYTES  ((uint64_t)4 << 20)

/* Part of an open file as a request body. */
struct file_source {
    struct gather_source source;
    int fd;
    uint64_t at, end;
};

static enum error read_file(struct gather_source *source, char *to, size_t max, size_t *ret_count)
{
    struct file_source *file = (struct file_source *)(void *)source;
    uint64_t left = file->end - file->at;
    size_t size = left < max ? (size_t)left : max;
    ssize_t n = file_read_at(file->fd, to, size, file->at);

    if (n < 0 || (size_t)n < size) /* truncated while being read */
        return E_InternalError;
    file->at += size;
    *ret_count = size;
    return OK;
}

static struct file_source run_of(int fd, uint64_t at, uint64_t length)
{
    return (struct file_source){ .source = { .read = read_file, .length = length, .max = length },
                                 .fd = fd,
                                 .at = at,
                                 .end = at + length };
}

static struct bytes content_type(struct bytes name)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {
        { ".html", "text/html" },        { ".htm", "text/html" },
        { ".css", "text/css" },          { ".js", "text/javascript" },
        { ".mjs", "text/javascript" },   { ".json", "application/json" },
        { ".txt", "text/plain" },        { ".md", "text/markdown" },
        { ".csv", "text/csv" },          { ".xml", "application/xml" },
        { ".svg", "image/svg+xml" },     { ".png", "image/png" },
        { ".jpg", "image/jpeg" },        { ".jpeg", "image/jpeg" },
        { ".gif", "image/gif" },         { ".webp", "image/webp" },
        { ".pdf", "application/pdf" },   { ".zip", "application/zip" },
        { ".wasm", "application/wasm" }, { ".woff2", "font/woff2" },
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (bytes_has_suffix_nocase(name, bytes_from_string(types[i].suffix)))
            return bytes_from_string(types[i].type);
    return bytes_from_string("application/octet-stream");
}

/* ---- a file ---- */

/* The source item of an upload. */
struct upload {
    struct seeding *s;
    const struct seed_item *item;
};

static struct bytes path_of(const struct upload *u, struct bytes name)
{
    struct arena *arena = u->s->arena;

    return arena_printf(arena, "/%.*s/%.*s/%.*s", BYTES_ARG(u->s->account),
                        BYTES_ARG(percent_encode(arena, u->item->name, "$")),
                        BYTES_ARG(percent_encode(arena, name, "/")));
}

static void upload_blob(const struct upload *u, struct bytes name, int fd, uint64_t size)
{
    struct file_source file = run_of(fd, 0, size);
    const struct http_header headers[] = {
        seed_header("x-ms-version", bytes_from_string(SEED_VERSION)),
        seed_header("x-ms-blob-type", bytes_from_string("BlockBlob")),
        seed_header("x-ms-blob-content-type", content_type(name)),
        seed_header("if-none-match", bytes_from_string("*")),
    };
    struct internal_request asked = { .method = METHOD_PUT,
                                      .path = path_of(u, name),
                                      .headers = headers,
                                      .header_count = 4,
                                      .source = &file.source };
    struct internal_response answer;

    if (!bytes_equal(url_normalize_path(u->s->arena, name), name)) { /* decision: 39 */
        seed_fail(u->s, "%.*s is a name that the Blob service would change", BYTES_ARG(name));
        return;
    }
    if (seed_request(u->s, "blob", &asked, E_BlobAlreadyExists, &answer) && !answer.error)
        u->s->made++;
}

/* Sends a request for a file or directory of a share, with its version and at most one more
 * header. */
static bool ask_share(const struct upload *u, enum http_method method, struct bytes path,
                      const char *query, const struct http_header *more, size_t count,
                      struct gather_source *source, enum error accepted,
                      struct internal_response *ret_answer)
{
    struct http_header headers[6] = { seed_header("x-ms-version",
                                                  bytes_from_string(SEED_VERSION)) };
    struct internal_request asked = { .method = method,
                                      .path = path,
                                      .query = bytes_from_string(query),
                                      .headers = headers,
                                      .header_count = count + 1,
                                      .source = source };

    if (count > 0)
        memcpy(headers + 1, more, count * sizeof *more);
    return seed_request(u->s, "file", &asked, accepted, ret_answer);
}

static bool put_ranges(const struct upload *u, struct bytes path, int fd, uint64_t size)
{
    struct internal_response answer;
    bool good = true;

    for (uint64_t at = 0; at < size && good; at += RANGE_BYTES) {
        uint64_t length = size - at < RANGE_BYTES ? size - at : RANGE_BYTES;
        struct file_source file = run_of(fd, at, length);
        const struct http_header headers[] = {
            seed_header("x-ms-write", bytes_from_string("update")),
            seed_header("x-ms-range", arena_printf(u->s->arena, "bytes=%" PRIu64 "-%" PRIu64, at,
                                                   at + length - 1)),
        };

        good = ask_share(u, METHOD_PUT, path, "comp=range", headers, 2, &file.source, OK, &answer);
    }
    return good;
}

/* Marks the file until all of its bytes are uploaded; a start that finds the mark uploads it
 * again. */
static void upload_to_share(const struct upload *u, struct bytes name, int fd, uint64_t size)
{
    struct bytes path = path_of(u, name);
    const struct http_header headers[] = {
        seed_header("x-ms-type", bytes_from_string("file")),
        seed_header("x-ms-content-length", arena_printf(u->s->arena, "%" PRIu64, size)),
        seed_header("x-ms-content-type", content_type(name)),
        seed_header(SEED_MARK, bytes_from_string("1")),
    };
    struct internal_response answer;

    if (!ask_share(u, METHOD_HEAD, path, NULL, NULL, 0, NULL, E_ResourceNotFound, &answer))
        return;
    if (!answer.error && !response_find_header(&answer.response, bytes_from_string(SEED_MARK)))
        return;
    if (ask_share(u, METHOD_PUT, path, NULL, headers, 4, NULL, OK, &answer) &&
        put_ranges(u, path, fd, size) &&
        ask_share(u, METHOD_PUT, path, "comp=metadata", NULL, 0, NULL, OK, &answer))
        u->s->made++;
}

/* ---- directories ---- */

static void upload_folder(const struct upload *u, int parent, const char *entry, struct bytes name,
                          unsigned depth);

static void upload_file(const struct upload *u, int folder, const char *entry, struct bytes name)
{
    int fd = openat(folder, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct arena_mark mark = arena_mark(u->s->arena);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0)
        seed_fail(u->s, "%.*s cannot be read: %s", BYTES_ARG(name), strerror(errno));
    else if (!S_ISREG(status.st_mode))
        seed_fail(u->s, "%.*s is neither a file nor a folder", BYTES_ARG(name));
    else if (u->item->kind == SEED_SHARE)
        upload_to_share(u, name, fd, (uint64_t)status.st_size);
    else
        upload_blob(u, name, fd, (uint64_t)status.st_size);
    if (!u->s->problem)
        arena_rewind(u->s->arena, mark);
    if (fd >= 0)
        close(fd);
}

static void upload_entry(const struct upload *u, int folder, const char *entry, struct bytes below,
                         unsigned depth)
{
    struct seeding *s = u->s;
    struct bytes name =
        arena_printf(s->arena, "%.*s%s%s", BYTES_ARG(below), below.len > 0 ? "/" : "", entry);
    struct stat status;

    if (name.len > NAME_MAX_LEN)
        seed_fail(s, "the name %.*s is too long", BYTES_ARG(name));
    else if (fstatat(folder, entry, &status, AT_SYMLINK_NOFOLLOW) != 0)
        seed_fail(s, "%.*s cannot be read: %s", BYTES_ARG(name), strerror(errno));
    else if (S_ISDIR(status.st_mode))
        upload_folder(u, folder, entry, name, depth + 1);
    else
        upload_file(u, folder, entry, name);
}

/* name: of the directory in the container; empty for the container's root */
static void upload_folder(const struct upload *u, int parent, const char *entry, struct bytes name,
                          unsigned depth)
{
    struct seeding *s = u->s;
    DIR *list = depth <= DEPTH_MAX ? file_list(parent, entry) : NULL;
    struct internal_response answer;
    struct dirent *found;

    if (!list) {
        seed_fail(s, "the folder %s %s", entry,
                  depth <= DEPTH_MAX ? strerror(errno) : "is nested too deeply");
        return;
    }
    if (u->item->kind == SEED_SHARE && name.len > 0)
        ask_share(u, METHOD_PUT, path_of(u, name), "restype=directory", NULL, 0, NULL,
                  E_ResourceAlreadyExists, &answer);
    while (!s->problem && (found = file_next_entry(list))) {
        if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0)
            upload_entry(u, dirfd(list), found->d_name, name, depth);
    }
    if (!s->problem && errno != 0)
        seed_fail(s, "the folder %s cannot be read: %s", entry, strerror(errno));
    closedir(list);
}

/* Opens the directory below that of the file, component by component, without following links.
 * Returns -1 after failing. */
static int open_upload(struct seeding *s, struct bytes path)
{
    int at = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bytes name = { NULL, 0 };

    while (path.ptr && at >= 0) {
        int next;

        bytes_cut(path, '/', &name, &path);
        if (name.len == 0 || bytes_is(name, "..")) {
            close(at);
            seed_fail(s, "upload requires the path of a folder below that of the file");
            return -1;
        }
        next = openat(at, arena_string(s->arena, name),
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        close(at);
        at = next;
    }
    if (at < 0)
        seed_fail(s, "the folder %.*s cannot be read: %s", BYTES_ARG(name), strerror(errno));
    return at;
}

void seed_upload(struct seeding *s, const struct seed_item *item)
{
    const struct upload upload = { .s = s, .item = item };
    int folder = open_upload(s, item->upload);

    if (folder < 0)
        return;
    if (!s->dry_run)
        upload_folder(&upload, folder, ".", bytes_of("", 0), 0);
    close(folder);
}
