/* An export as the source: see export_sink.c. */
#include "transfer/sides.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "transfer/line_reader.h"
#include "transfer/safe_path.h"

#define LINE_BYTES_MAX ((size_t)4 << 30)

struct export_source {
    struct source source;
    int folder;
};

/* An item that is listed. False: nothing more is to be listed. */
static bool put_line(struct worker *worker, struct arena *arena, const char *name,
                     const struct line_reader *lines, struct bytes line, bool *passes_over)
{
    const char *problem;
    struct item *item = item_read_json(arena, line, &problem);
    enum put_result put;

    if (!item)
        return worker_problem(worker, "%s: line %" PRIu64 ": %s", name, lines->number, problem);
    if (item->kind == ITEM_QUEUE)
        *passes_over = false;
    if (*passes_over && (item->kind == ITEM_MESSAGE || item->kind == ITEM_QUEUE_END))
        return true;
    put = run_put(worker->run, item);
    if (item->kind == ITEM_QUEUE)
        *passes_over = put != PUT_MADE; /* it has its messages, or does not get any */
    return put != PUT_STOPPED;
}

static bool list_file(const struct export_source *export, struct worker *worker, const char *name)
{
    struct line_reader lines = { .fd = safe_path_open(export->folder, bytes_from_string(name),
                                                      false) };
    bool listed = lines.fd >= 0, passes_over = false;
    struct bytes line;

    while (listed && line_reader_next(&lines, &line)) {
        struct arena *arena = arena_new(LINE_BYTES_MAX);

        listed = put_line(worker, arena, name, &lines, line, &passes_over);
        arena_free(arena);
        errno = 0;
    }
    if (lines.fd < 0 || (listed && errno != 0))
        listed = worker_problem(worker, "%s: %s", name, strerror(errno));
    if (lines.fd >= 0)
        line_reader_release(&lines);
    return listed;
}

static bool list(struct source *source, struct worker *worker)
{
    const struct export_source *export = (const struct export_source *)(const void *)source;

    return list_file(export, worker, "account.jsonl") &&
           list_file(export, worker, "contents.jsonl");
}

static bool read_bytes(struct source *source, struct worker *worker, const struct item *item,
                       uint64_t at, uint64_t length, struct bytes *ret_bytes)
{
    const struct export_source *export = (const struct export_source *)(const void *)source;
    char *to = arena_bytes(worker->arena, (size_t)length);
    int fd = safe_path_open(export->folder, item->place.ptr ? item->place : bytes_of("", 0), false);
    ssize_t n = fd >= 0 ? file_read_at(fd, to, (size_t)length, at) : -1;
    int error = errno;

    if (fd >= 0)
        close(fd);
    *ret_bytes = bytes_of(to, (size_t)length);
    return n == (ssize_t)length ||
           worker_problem(worker, "%.*s: %s", BYTES_ARG(item->place),
                          n < 0 ? strerror(error) : "it is shorter than it was");
}

static bool read_ranges(struct source *source, struct worker *worker, const struct item *item,
                        struct item_ranges *ret_ranges)
{
    (void)source;
    (void)worker;
    *ret_ranges = item->ranges;
    return true;
}

static void free_source(struct source *source)
{
    struct export_source *export = (struct export_source *)(void *)source;

    close(export->folder);
    free(export);
}

struct source *source_export_new(struct worker *worker, const char *folder)
{
    struct export_source *export = xcalloc(1, sizeof *export);

    *export = (struct export_source){
        .source = { .list = list, .read = read_bytes, .ranges = read_ranges, .free = free_source },
        .folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    };
    if (export->folder >= 0)
        return &export->source;
    worker_problem(worker, "%s: %s", folder, strerror(errno));
    free(export);
    return NULL;
}
