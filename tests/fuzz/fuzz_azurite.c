/* Databases of an Azurite: the first byte says of which service. Whatever they say, all is listed or refused, and bytes are
 * read of the folder's extents alone. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "fuzz.h"
#include "transfer/run.h"

#define EXTENT_BYTES 4096u
#define READ_MAX     ((uint64_t)65536)

static char folder[] = "/tmp/lagra-fuzz-azurite-XXXXXX";
static const char *const databases[] = { "__azurite_db_blob__.json", "__azurite_db_queue__.json",
                                         "__azurite_db_table__.json" };
/* Which the corpus names. */
static const char *const extents[] = { "__blobstorage__/ebfda3ec-84f6-41d7-8ce1-b5ac3a860a50",
                                       "__queuestorage__/f821cad9-2a45-4841-b79d-506254b2a08d" };

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void remove_file(const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static void remove_folder(void)
{
    for (size_t i = 0; i < 2; i++)
        remove_file(extents[i]);
    for (size_t i = 0; i < 3; i++)
        remove_file(databases[i]);
    remove_file("journal");
    for (size_t i = 0; i < 2; i++) {
        char path[128];

        snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(extents[i], "/"), extents[i]);
        rmdir(path);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    char bytes[EXTENT_BYTES];

    memset(bytes, 'x', sizeof bytes);
    if (!mkdtemp(folder))
        abort();
    for (size_t i = 0; i < 2; i++) {
        char path[128];

        snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(extents[i], "/"), extents[i]);
        if (mkdir(path, 0700) != 0)
            abort();
        write_file(extents[i], bytes, sizeof bytes);
    }
    atexit(remove_folder);
    log_open(LOG_ERROR, NULL);
}

/* ---- what takes all of it ---- */

static bool put(struct sink *sink, struct source *source, struct worker *worker,
                const struct item *item)
{
    struct item_ranges ranges;
    struct bytes bytes;

    (void)sink;
    for (; item; item = item->next) {
        uint64_t length = item->size < READ_MAX ? item->size : READ_MAX;

        if (item->kind != ITEM_BLOB)
            continue;
        if (source->read(source, worker, item, item->size - length, length, &bytes) &&
            bytes.len != length)
            abort();
        (void)source->ranges(source, worker, item, &ranges);
    }
    return true;
}

static void free_sink(struct sink *sink)
{
    (void)sink;
}

static struct source *open_source(struct worker *worker, const struct transfer_options *options)
{
    return source_azurite_new(worker, options->from_azurite, options->azurite_account);
}

static struct sink *open_sink(struct worker *worker, const struct transfer_options *options)
{
    static struct sink sink = { .put = put, .free = free_sink };

    (void)worker;
    (void)options;
    return &sink;
}

static void show(void *context, const struct transfer_count *count)
{
    (void)context;
    (void)count;
}

static void complain(void *context, const char *problem)
{
    (void)context;
    (void)problem;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct run_openers openers = { open_source, open_sink, open_source };
    char journal[128];
    const struct transfer_options options = { .from_azurite = folder,
                                              .azurite_account = "devstoreaccount1",
                                              .journal_path = journal,
                                              .workers = 1,
                                              .show = show,
                                              .complain = complain };
    struct transfer_result result;
    const char *database;

    if (size == 0)
        return 0;
    if (strcmp(folder + sizeof folder - 7, "XXXXXX") == 0)
        make_folder();
    snprintf(journal, sizeof journal, "%s/journal", folder);
    database = databases[data[0] % 3];
    write_file(database, data + 1, size - 1);
    (void)run_all(&options, &openers, &result);
    remove_file(database);
    remove_file("journal");
    return 0;
}
