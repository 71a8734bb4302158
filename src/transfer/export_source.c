/* An export as the source: see export_sink.c. */
#include "transfer/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "transfer/export_end.h"
#include "transfer/line_reader.h"
#include "transfer/safe_path.h"

#define LINE_BYTES_MAX  ((size_t)4 << 30)

#define QUEUE_SIZE      80
#define OPEN_QUEUES_MAX 256u

struct export_source {
    struct source source;
    int folder;
};

/* State of reading one file. */
struct export_listing {
    struct worker *worker;
    const char *name;
    struct line_reader lines;
    bool passes_over; /* skip messages, because the queue has them or does not get any */
    /* Queues without an end so far. A resumed export writes a queue from its start again. */
    char open[OPEN_QUEUES_MAX][QUEUE_SIZE];
    size_t open_count;
};

/* ---- queues ---- */

static void close_queue(struct export_listing *l, const char *name)
{
    for (size_t i = 0; i < l->open_count; i++) {
        if (strcmp(l->open[i], name) == 0) {
            memmove(l->open[i], l->open[--l->open_count], QUEUE_SIZE);
            return;
        }
    }
}

/* Records the start or end of a queue. */
static bool note_queue(struct export_listing *l, const struct item *item)
{
    char name[QUEUE_SIZE];

    if (item->kind != ITEM_QUEUE && item->kind != ITEM_QUEUE_END)
        return true;
    snprintf(name, sizeof name, "%.*s", BYTES_ARG(item->parent));
    close_queue(l, name);
    if (item->kind == ITEM_QUEUE_END)
        return true;
    l->passes_over = false;
    if (l->open_count == OPEN_QUEUES_MAX)
        return worker_problem(l->worker, "%s: more than %u queues have no end", l->name,
                              OPEN_QUEUES_MAX);
    memcpy(l->open[l->open_count++], name, sizeof name);
    return true;
}

/* Reports queues without an end, which may lack messages. */
static bool report_open(const struct export_listing *l)
{
    for (size_t i = 0; i < l->open_count; i++)
        worker_problem(l->worker, "%s: the export is incomplete: queue %s has no end", l->name,
                       l->open[i]);
    return l->open_count == 0;
}

/* ---- lines ---- */

/* Puts the item in a line. Returns false to end the listing. */
static bool put_line(struct export_listing *l, struct arena *arena, struct bytes line)
{
    const char *problem;
    struct item *item = item_read_json(arena, line, &problem);
    enum put_result put;

    if (!item)
        return worker_problem(l->worker, "%s: line %" PRIu64 ": %s", l->name, l->lines.number,
                              problem);
    if (!note_queue(l, item))
        return false;
    if (l->passes_over && (item->kind == ITEM_MESSAGE || item->kind == ITEM_QUEUE_END))
        return true;
    put = run_put(l->worker->run, item);
    if (item->kind == ITEM_QUEUE)
        l->passes_over = put != PUT_CREATED;
    return put != PUT_STOPPED;
}

static bool list_file(const struct export_source *export, struct worker *worker, const char *name,
                      uint64_t *ret_lines)
{
    struct export_listing l = {
        .worker = worker,
        .name = name,
        .lines = { .fd = safe_path_open(export->folder, bytes_from_string(name), false) },
    };
    bool listed = l.lines.fd >= 0;
    struct bytes line;

    while (listed && line_reader_next(&l.lines, &line)) {
        struct arena *arena = arena_new(LINE_BYTES_MAX);

        listed = put_line(&l, arena, line);
        arena_free(arena);
        errno = 0;
    }
    if (l.lines.fd < 0 || (listed && errno != 0))
        listed = worker_problem(worker, "%s: %s", name, strerror(errno));
    if (l.lines.fd >= 0)
        line_reader_release(&l.lines);
    *ret_lines = l.lines.number;
    return listed && report_open(&l);
}

static bool list(struct source *source, struct worker *worker)
{
    const struct export_source *export = (const struct export_source *)(const void *)source;
    struct export_lines lines;

    return list_file(export, worker, EXPORT_ACCOUNT, &lines.account) &&
           list_file(export, worker, EXPORT_CONTENTS, &lines.contents) &&
           (run_is_comparing(worker->run) || export_end_check(worker, export->folder, &lines));
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
                          n < 0 ? strerror(error) : "it is shorter than expected");
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
