/* An export as the target: a directory with two files of JSON lines, each an item, and the data of
 * blobs and files in files of their own. account.jsonl has the items that must be created in order;
 * contents.jsonl the others. docs/import.md */
#include "transfer/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/md5.h"
#include "transfer/export_end.h"
#include "transfer/safe_path.h"

#define PART_BYTES ((uint64_t)8 << 20)
#define TAIL_BYTES ((size_t)64 << 10)

struct export_sink {
    struct sink sink;
    int folder;
    int account, contents; /* opened for appending */
};

/* ---- lines ---- */

/* Truncates an incomplete line written by a killed run. Returns false with errno on failure. */
static bool end_lines(int fd)
{
    struct stat status;
    off_t end;

    if (fstat(fd, &status) != 0)
        return false;
    for (end = status.st_size; end > 0;) {
        char tail[TAIL_BYTES];
        size_t size = end < (off_t)sizeof tail ? (size_t)end : sizeof tail;
        const char *last;

        if (file_read_at(fd, tail, size, (uint64_t)end - size) != (ssize_t)size)
            return false;
        last = memrchr(tail, '\n', size);
        if (last)
            return ftruncate(fd, end - (off_t)size + (last - tail) + 1) == 0;
        end -= (off_t)size;
    }
    return ftruncate(fd, 0) == 0;
}

static bool is_empty(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_size == 0;
}

/* Refuses a file with the lines of another export, which would then contain items twice. Returns -1
 * with errno on failure. */
static int open_lines(const struct run *run, int folder, const char *name)
{
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_ours;

    if (fd < 0)
        return -1;
    is_ours = run_is_resumed(run) || is_empty(fd);
    if (!is_ours)
        errno = EEXIST;
    if (!is_ours || !end_lines(fd)) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static bool write_line(struct export_sink *sink, struct worker *worker, const struct item *item)
{
    struct text line;
    ssize_t n;

    text_init(&line, worker->arena, 1024);
    if (!item_write_json(&line, item))
        return worker_problem(worker, "%.*s/%.*s: a property is not UTF-8", BYTES_ARG(item->parent),
                              BYTES_ARG(item->name));
    text_add_char(&line, '\n');
    n = write(item_is_ordered(item->kind) ? sink->account : sink->contents, line.ptr, line.len);
    return n == (ssize_t)line.len || worker_problem(worker, "the export cannot be written: %s",
                                                    n < 0 ? strerror(errno) : "the disk is full");
}

/* ---- data ---- */

struct writing {
    struct source *source;
    struct worker *worker;
    const struct item *item;
    int fd;
    struct md5_stream md5;
    bool has_holes;
};

static bool write_all(struct writing *w, struct bytes bytes, uint64_t at)
{
    while (bytes.len > 0) {
        ssize_t n = pwrite(w->fd, bytes.ptr, bytes.len, (off_t)at);

        if (n == 0 || (n < 0 && errno != EINTR))
            return worker_problem(w->worker, "%.*s: %s", BYTES_ARG(w->item->name), strerror(errno));
        if (n > 0) {
            bytes = bytes_from(bytes, (size_t)n);
            at += (uint64_t)n;
        }
    }
    return true;
}

static bool write_range(struct writing *w, uint64_t at, uint64_t length)
{
    struct arena *arena = w->worker->arena;
    struct md5_stream *streams[1] = { &w->md5 };
    bool written = true;

    for (uint64_t end = at + length; at < end && written; at += PART_BYTES) {
        struct arena_mark mark = arena_mark(arena);
        uint64_t part = end - at < PART_BYTES ? end - at : PART_BYTES;
        struct bytes bytes;

        written = w->source->read(w->source, w->worker, w->item, at, part, &bytes);
        if (written)
            md5_update_many(streams, &bytes, 1);
        written = written && write_all(w, bytes, at);
        arena_rewind(arena, mark);
    }
    return written;
}

static bool check_md5(struct writing *w)
{
    uint8_t digest[MD5_SIZE];

    md5_stream_digest(&w->md5, digest);
    if (w->has_holes || !w->item->has_md5 || memcmp(digest, w->item->md5, sizeof digest) == 0)
        return true;
    return worker_problem(w->worker,
                          "%.*s/%.*s: MD5 mismatch: the source reports a different MD5 than that "
                          "of the received data",
                          BYTES_ARG(w->item->parent), BYTES_ARG(w->item->name));
}

static bool write_bytes(struct writing *w, struct item *item)
{
    bool written = ftruncate(w->fd, (off_t)item->size) == 0 ||
                   worker_problem(w->worker, "%.*s: %s", BYTES_ARG(item->name), strerror(errno));

    if (w->has_holes && item->size > 0)
        written = written && w->source->ranges(w->source, w->worker, item, &item->ranges);
    for (size_t i = 0; written && i < item->ranges.count; i++)
        written = write_range(w, item->ranges.of[i].at, item->ranges.of[i].length);
    if (!w->has_holes)
        written = written && write_range(w, 0, item->size);
    return written && check_md5(w);
}

/* A name that leads through a file, or is a directory's, gets another path. */
static int open_file(struct export_sink *sink, struct worker *worker, struct item *item,
                     unsigned state)
{
    const char *top = item->kind == ITEM_FILE ? "files" : "blobs";
    int fd;

    item->place = safe_path_make(worker->arena, top, item->parent, item->name, state, true);
    fd = safe_path_open(sink->folder, item->place, true);
    if (fd < 0 &&
        (errno == EISDIR || errno == ENOTDIR || errno == EEXIST || errno == ENAMETOOLONG)) {
        item->place = safe_path_make(worker->arena, top, item->parent, item->name, state, false);
        fd = safe_path_open(sink->folder, item->place, true);
    }
    if (fd < 0)
        worker_problem(worker, "%.*s cannot be written: %s", BYTES_ARG(item->place),
                       strerror(errno));
    return fd;
}

static bool write_state(struct export_sink *sink, struct source *source, struct worker *worker,
                        struct item *item, unsigned state)
{
    struct writing w = { .source = source, .worker = worker, .item = item };
    bool written;

    w.has_holes =
        item->kind == ITEM_FILE || bytes_is(item_find_header(item, "x-ms-blob-type"), "PageBlob");
    md5_stream_init(&w.md5);
    w.fd = open_file(sink, worker, item, state);
    written = w.fd >= 0 && write_bytes(&w, item);
    if (w.fd >= 0)
        close(w.fd);
    return written;
}

/* ---- the sink ---- */

static bool put(struct sink *sink, struct source *source, struct worker *worker,
                const struct item *item)
{
    struct export_sink *export = (struct export_sink *)(void *)sink;
    struct item *copy = item_copy(worker->arena, item);
    unsigned state = 0;

    for (struct item *next = copy; next; next = next->next) {
        if ((item->kind == ITEM_BLOB || item->kind == ITEM_FILE) &&
            !write_state(export, source, worker, next, next->next ? ++state : 0))
            return false;
    }
    return write_line(export, worker, copy);
}

/* Makes everything durable before writing the mark and deleting the journal. */
static bool end(struct sink *sink, struct worker *worker)
{
    const struct export_sink *export = (const struct export_sink *)(const void *)sink;

    if (syncfs(export->folder) != 0)
        return worker_problem(worker, "the export cannot be made durable: %s", strerror(errno));
    return export_end_write(worker, export->folder);
}

static void free_sink(struct sink *sink)
{
    struct export_sink *export = (struct export_sink *)(void *)sink;

    if (export->folder >= 0)
        close(export->folder);
    if (export->account >= 0)
        close(export->account);
    if (export->contents >= 0)
        close(export->contents);
    free(export);
}

struct sink *sink_export_new(struct worker *worker, const char *folder)
{
    struct export_sink *export = xcalloc(1, sizeof *export);

    *export = (struct export_sink){
        .sink = { .is_hierarchical = true, .put = put, .end = end, .free = free_sink },
        .account = -1,
        .contents = -1
    };
    export->folder =
        file_make_folders(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (export->folder >= 0)
        export->account = open_lines(worker->run, export->folder, EXPORT_ACCOUNT);
    if (export->account >= 0)
        export->contents = open_lines(worker->run, export->folder, EXPORT_CONTENTS);
    if (export->contents >= 0)
        return &export->sink;
    worker_problem(worker, "%s: %s", folder,
                   errno == EEXIST ? "it already contains an export" : strerror(errno));
    free_sink(&export->sink);
    return NULL;
}
