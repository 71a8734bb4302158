/* An Azurite data directory as the source: see azurite.h. */
#include "transfer/azurite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "transfer/run.h"

static bool list(struct source *source, struct worker *worker)
{
    static const struct {
        const char *name;
        bool (*list)(struct azurite *a);
    } databases[] = {
        { "__azurite_db_blob__.json", azurite_list_blobs },
        { "__azurite_db_queue__.json", azurite_list_queues },
        { "__azurite_db_table__.json", azurite_list_tables },
    };
    struct azurite *a = (struct azurite *)(void *)source;
    bool listed = true;
    size_t found = 0;

    a->worker = worker;
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++) {
        bool there;

        listed &= azurite_open(a, databases[i].name, &there);
        if (listed && there)
            listed = databases[i].list(a);
        found += there;
        azurite_close(a);
    }
    return listed &&
           (found > 0 || worker_problem(worker, "the folder contains no Azurite database"));
}

static bool read_bytes(struct source *source, struct worker *worker, const struct item *item,
                       uint64_t at, uint64_t length, struct bytes *ret_bytes)
{
    const struct azurite *a = (const struct azurite *)(const void *)source;

    return azurite_read(a, worker, "__blobstorage__", item->place, at, length, ret_bytes);
}

static bool read_ranges(struct source *source, struct worker *worker, const struct item *item,
                        struct item_ranges *ret_ranges)
{
    size_t count = item->place.len / sizeof(struct azurite_part);

    (void)source;
    *ret_ranges = (struct item_ranges){ .count = 0 };
    for (size_t i = 0; i < count; i++) {
        struct azurite_part part;

        memcpy(&part, item->place.ptr + i * sizeof part, sizeof part);
        if (!item_ranges_add(worker->arena, ret_ranges, part.at, part.count, item->size))
            return worker_problem(worker, "%.*s/%.*s: its pages overlap", BYTES_ARG(item->parent),
                                  BYTES_ARG(item->name));
    }
    return true;
}

static void free_source(struct source *source)
{
    struct azurite *a = (struct azurite *)(void *)source;

    close(a->folder);
    free(a);
}

struct source *source_azurite_new(struct worker *worker, const char *folder, const char *account)
{
    struct azurite *a = xcalloc(1, sizeof *a);

    *a = (struct azurite){
        .source = { .list = list, .read = read_bytes, .ranges = read_ranges, .free = free_source },
        .folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .account = bytes_from_string(account)
    };
    if (a->folder >= 0)
        return &a->source;
    worker_problem(worker, "%s: %s", folder, strerror(errno));
    free(a);
    return NULL;
}
