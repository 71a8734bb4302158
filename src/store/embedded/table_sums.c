/* A few threads verify the tables one after another. */
#include "store/embedded/table_sums.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/records_files.h"

#define THREADS    4 /* enough to keep a disk busy */
/* Reading 512 MiB from the page cache takes 85 ms of CPU; with 256 KiB at once 98, mapped 150. */
#define READ_BYTES (128u << 10)

enum sum_result { SUM_RIGHT, SUM_WRONG, SUM_MISSING, SUM_SIZE, SUM_UNREADABLE };

struct sums {
    int records;
    const struct manifest *manifest;
    bool sizes_only;
    _Atomic size_t next;
    unsigned char *results; /* per table, an enum sum_result */
};

/* Returns false if the file is unreadable, or not `size` long. */
static bool take_sum(int fd, uint64_t size, uint32_t *ret_crc)
{
    char *buffer = xmalloc(READ_BYTES);
    uint64_t at = 0;
    uint32_t crc = 0;
    ssize_t n;

    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    while ((n = file_read_at(fd, buffer, READ_BYTES, at)) > 0) {
        crc = crc32c(crc, buffer, (size_t)n);
        at += (uint64_t)n;
    }
    free(buffer);
    *ret_crc = crc;
    return n == 0 && at == size;
}

static enum sum_result check_table(int records, const struct manifest_table *table, bool size_only)
{
    char name[RECORDS_NAME_SIZE];
    enum sum_result result;
    uint32_t crc;
    int fd;

    records_file_name(name, RECORDS_TABLE, table->number);
    fd = openat(records, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return SUM_MISSING;
    if (fd < 0 || lseek(fd, 0, SEEK_END) < 0) {
        log_errno("store: open records/%s", name);
        result = SUM_UNREADABLE;
    } else if ((uint64_t)lseek(fd, 0, SEEK_END) != table->size) {
        result = SUM_SIZE;
    } else if (size_only) {
        result = SUM_RIGHT;
    } else if (!take_sum(fd, table->size, &crc)) {
        log_line(LOG_ERROR, "store: records/%s cannot be read", name);
        result = SUM_UNREADABLE;
    } else {
        result = crc == table->crc ? SUM_RIGHT : SUM_WRONG;
    }
    if (fd >= 0)
        close(fd);
    return result;
}

static void *check_tables(void *argument)
{
    struct sums *sums = argument;
    size_t i;

    while ((i = atomic_fetch_add(&sums->next, 1)) < sums->manifest->table_count)
        sums->results[i] =
            (unsigned char)check_table(sums->records, &sums->manifest->tables[i], sums->sizes_only);
    return NULL;
}

/* Returns STORE_OK (also if there is damage), STORE_IO if one could not be read. */
static enum store_result report(const struct sums *sums, struct damage *damage)
{
    static const char *const sentences[] = {
        [SUM_WRONG] = TABLE_SUM_IS_WRONG,
        [SUM_MISSING] = "records/%06" PRIu64 ".sst is missing",
        [SUM_SIZE] = "records/%06" PRIu64 ".sst does not have the size with which it was written",
        [SUM_UNREADABLE] = "records/%06" PRIu64 ".sst cannot be read",
    };

    enum store_result result = STORE_OK;

    for (size_t i = 0; i < sums->manifest->table_count; i++) {
        if (sums->results[i] != SUM_RIGHT)
            damage_found(damage, sentences[sums->results[i]], sums->manifest->tables[i].number);
        if (sums->results[i] == SUM_UNREADABLE)
            result = STORE_IO;
    }
    return result;
}

static enum store_result check_all(struct sums *sums, size_t threads_max, struct damage *damage)
{
    pthread_t threads[THREADS];
    size_t count = 0;
    enum store_result result;

    if (sums->manifest->table_count == 0)
        return STORE_OK;
    sums->results = xcalloc(sums->manifest->table_count, 1);
    /* This thread is one of them: if no other can be created, it does everything. */
    while (count + 1 < threads_max && count + 1 < sums->manifest->table_count &&
           pthread_create(&threads[count], NULL, check_tables, sums) == 0)
        count++;
    check_tables(sums);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    result = report(sums, damage);
    free(sums->results);
    return result;
}

enum store_result table_sums_check(int records, const struct manifest *manifest,
                                   struct damage *damage)
{
    struct sums sums = { .records = records, .manifest = manifest };

    return check_all(&sums, THREADS, damage);
}

enum store_result table_sums_check_sizes(int records, const struct manifest *manifest,
                                         struct damage *damage)
{
    struct sums sums = { .records = records, .manifest = manifest, .sizes_only = true };

    return check_all(&sums, /* threads_max= */ 1, damage);
}
