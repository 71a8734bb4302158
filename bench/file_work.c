/* Work on files. The container is a share, or a directory in it by its path. */
#include "work.h"

#include <inttypes.h>
#include <stdio.h>

static void file_path(const struct work_options *options, uint64_t n, struct draft *draft)
{
    snprintf(draft->path, sizeof draft->path, "%s/file-%zu-%08" PRIu64, options->container,
             options->size, n % options->names);
}

/* Create File of so many bytes, which come with it. */
static void create(const struct work_options *options, const char *length, struct draft *draft)
{
    draft->method = "PUT";
    draft->ms[0] = (struct pair){ "x-ms-content-length", length };
    draft->ms[1] = (struct pair){ "x-ms-type", "file" };
    draft->body = options->body;
}

static const char *size_text(const struct work_options *options)
{
    static _Thread_local char text[24];

    snprintf(text, sizeof text, "%zu", options->size);
    return text;
}

void draft_file_get(const struct work_options *options, const struct worker *worker, uint64_t n,
                    struct draft *draft)
{
    (void)worker;
    draft->method = "GET";
    file_path(options, n, draft);
}

void draft_file_put(const struct work_options *options, const struct worker *worker, uint64_t n,
                    struct draft *draft)
{
    (void)worker;
    create(options, size_text(options), draft);
    file_path(options, n, draft);
}

/* A file of the connection's own: made, deleted, made again. */
void draft_file_cycle(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft)
{
    (void)n;
    if (worker->done % 2 == 0)
        create(options, size_text(options), draft);
    else
        draft->method = "DELETE";
    snprintf(draft->path, sizeof draft->path, "%s/own-%u-%u", options->container, options->run,
             worker->number);
}

/* Ranges anywhere in a file of 8 GiB; who is faster than its creation is answered 404. */
void draft_file_range(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft)
{
    static _Thread_local char range[64];
    const uint64_t length = UINT64_C(8) << 30, places = length / options->size;
    uint64_t start = n * 2654435761 % places * options->size;

    (void)worker;
    draft->method = "PUT";
    snprintf(draft->path, sizeof draft->path, "%s/ranges-%u", options->container, options->run);
    if (n == 0) {
        create(options, "8589934592", draft);
        draft->body = (struct bytes){ .ptr = NULL };
        return;
    }
    snprintf(range, sizeof range, "bytes=%" PRIu64 "-%" PRIu64, start, start + options->size - 1);
    draft->query[0] = (struct pair){ "comp", "range" };
    draft->ms[0] = (struct pair){ "x-ms-range", range };
    draft->ms[1] = (struct pair){ "x-ms-write", "update" };
    draft->body = options->body;
}

void draft_file_list(const struct work_options *options, const struct worker *worker, uint64_t n,
                     struct draft *draft)
{
    (void)worker;
    (void)n;
    draft->method = "GET";
    snprintf(draft->path, sizeof draft->path, "%s", options->container);
    draft->query[0] = (struct pair){ "comp", "list" };
    draft->query[1] = (struct pair){ "maxresults", "5000" };
    draft->query[2] = (struct pair){ "restype", "directory" };
}
