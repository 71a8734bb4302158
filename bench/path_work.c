/* Work on paths of the Data Lake endpoint, and what the Blob service does with the same bytes. The
 * container is a filesystem, or a directory in it by its path. */
#include "work.h"

#include <inttypes.h>
#include <stdio.h>

/* A file grows by so many appends before it is created anew. */
#define APPENDS 16u

static const char *number_text(uint64_t number)
{
    static _Thread_local char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    return text;
}

static void create(struct draft *draft)
{
    draft->method = "PUT";
    draft->query[0] = (struct pair){ "resource", "file" };
}

static void append(const struct work_options *options, uint64_t position, struct draft *draft)
{
    draft->method = "PATCH";
    draft->query[0] = (struct pair){ "action", "append" };
    draft->query[1] = (struct pair){ "position", number_text(position) };
    draft->body = options->body;
}

static void flush(uint64_t position, struct draft *draft)
{
    draft->method = "PATCH";
    draft->query[0] = (struct pair){ "action", "flush" };
    draft->query[1] = (struct pair){ "position", number_text(position) };
}

static void own_file(const struct work_options *options, const struct worker *worker,
                     uint64_t number, struct draft *draft)
{
    snprintf(draft->path, sizeof draft->path, "%s/own-%u-%u-%" PRIu64, options->container,
             options->run, worker->number, number);
}

/* A new file in three requests: create, append, flush. */
void draft_path_create(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft)
{
    (void)n;
    if (worker->done % 3 == 0)
        create(draft);
    else if (worker->done % 3 == 1)
        append(options, 0, draft);
    else
        flush(options->size, draft);
    own_file(options, worker, worker->done / 3, draft);
}

/* A file of the connection's own grows: append, flush, and again. */
void draft_path_append(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft)
{
    unsigned turn = (unsigned)(worker->done % (2 * APPENDS + 1));

    (void)n;
    if (turn == 0)
        create(draft);
    else if (turn % 2 == 1)
        append(options, (uint64_t)(turn / 2) * options->size, draft);
    else
        flush((uint64_t)(turn / 2) * options->size, draft);
    own_file(options, worker, 0, draft);
}

/* Put Block and Put Block List of a blob of one block. */
void draft_block_pair(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft)
{
    static const struct bytes list = BYTES("<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>"
                                           "<Uncommitted>MDAw</Uncommitted></BlockList>");

    (void)n;
    draft->method = "PUT";
    own_file(options, worker, 0, draft);
    if (worker->done % 2 == 0) {
        draft->query[0] = (struct pair){ "blockid", "MDAw" };
        draft->query[1] = (struct pair){ "comp", "block" };
        draft->body = options->body;
    } else {
        draft->query[0] = (struct pair){ "comp", "blocklist" };
        draft->body = list;
    }
}

/* The first page of a directory. */
void draft_path_list(const struct work_options *options, const struct worker *worker, uint64_t n,
                     struct draft *draft)
{
    const char *slash = strchr(options->container, '/');

    (void)worker;
    (void)n;
    draft->method = "GET";
    snprintf(draft->path, sizeof draft->path, "%.*s",
             (int)(slash ? slash - options->container : (long)strlen(options->container)),
             options->container);
    draft->query[0] = (struct pair){ "directory", slash ? slash + 1 : "/" };
    draft->query[1] = (struct pair){ "maxresults", "5000" };
    draft->query[2] = (struct pair){ "recursive", "false" };
    draft->query[3] = (struct pair){ "resource", "filesystem" };
}
