/* Follows the logs from batch to batch. */
#include "store/embedded/log_chain.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/log.h"
#include "store/embedded/record_log.h"

#define BATCH_HEADER 12u /* 8 le sequence, 4 le count */

/* What one log adds to the chain. */
struct link {
    bool has_gap; /* a batch does not continue the previous one */
    uint64_t whole_end;
};

/* Follows the batches of a log up to a gap. *sequence: the last one so far */
static enum store_result follow(int fd, uint64_t *sequence, struct link *ret_link)
{
    struct link link = { 0 };
    struct record_log log;
    struct bytes batch;
    enum record_log_result got;

    record_log_init(&log, fd, UINT64_MAX);
    while ((got = record_log_next(&log, &batch)) == RECORD_LOG_RECORD) {
        uint64_t first, count;

        if (batch.len < BATCH_HEADER)
            break;
        first = le64_get(batch.ptr);
        count = le32_get(batch.ptr + 8);
        if (first > *sequence + 1) {
            link.has_gap = true;
            break;
        }
        if (first + count > *sequence + 1)
            *sequence = first + count - 1;
        link.whole_end = log.whole_end;
    }
    record_log_release(&log);
    *ret_link = link;
    return got == RECORD_LOG_IO ? STORE_IO : STORE_OK;
}

static uint64_t closed_size(const struct manifest *manifest, uint64_t number)
{
    for (size_t i = 0; i < manifest->log_count; i++)
        if (manifest->logs[i].number == number)
            return manifest->logs[i].size;
    return 0;
}

static void find_missing(const struct records_files *files, const struct manifest *manifest,
                         struct damage *damage)
{
    for (size_t i = 0; i < manifest->log_count; i++) {
        const struct manifest_log *log = &manifest->logs[i];

        if (log->number >= manifest->first_log &&
            !records_files_find(files, RECORDS_LOG, log->number))
            damage_found(damage, "records/%06" PRIu64 ".log is missing", log->number);
    }
}

static enum store_result follow_file(int records, uint64_t number, uint64_t *sequence,
                                     struct link *ret_link)
{
    char name[RECORDS_NAME_SIZE];
    enum store_result result;
    int fd;

    records_file_name(name, RECORDS_LOG, number);
    fd = openat(records, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        log_errno("store: open records/%s", name);
        return STORE_IO;
    }
    result = follow(fd, sequence, ret_link);
    close(fd);
    return result;
}

/* Interprets the end of a log, or its gap. before_is_whole: the previous log, if there is one, is
 * known to have been closed and complete */
static void judge(const struct records_file *file, const struct link *link, uint64_t closed,
                  bool before_is_whole, struct log_chain *chain, struct damage *damage)
{
    if (link->has_gap && link->whole_end > 0)
        damage_found(damage, "records/%06" PRIu64 ".log has a gap after byte %" PRIu64,
                     file->number, link->whole_end);
    else if (link->has_gap && before_is_whole)
        damage_found(damage,
                     "records/%06" PRIu64 ".log does not continue the changes up to sequence "
                     "%" PRIu64 ": a log before it is missing",
                     file->number, chain->sequence);
    else if (link->has_gap)
        chain->loose_from = file->number;
    else if (link->whole_end < closed)
        damage_found(damage,
                     "records/%06" PRIu64 ".log can be read up to byte %" PRIu64 " only, %" PRIu64
                     " bytes had been made durable",
                     file->number, link->whole_end, closed);
}

enum store_result log_chain_follow(int records, const struct records_files *files,
                                   const struct manifest *manifest, struct damage *damage,
                                   struct log_chain *ret_chain)
{
    struct log_chain *chain = ret_chain;
    bool before_is_whole = true;

    *chain = (struct log_chain){ .sequence = manifest->last_sequence };
    chain->ends = xcalloc(files->count + 1, sizeof chain->ends[0]);
    find_missing(files, manifest, damage);
    for (size_t i = 0; i < files->count; i++) {
        const struct records_file *file = &files->list[i];
        uint64_t closed;
        struct link link;

        if (file->kind != RECORDS_LOG || file->number < manifest->first_log)
            continue;
        if (follow_file(records, file->number, &chain->sequence, &link))
            return STORE_IO;
        closed = closed_size(manifest, file->number);
        judge(file, &link, closed, before_is_whole, chain, damage);
        if (link.has_gap)
            break;
        chain->ends[chain->end_count++] = (struct log_end){ file->number, link.whole_end };
        before_is_whole = closed > 0;
    }
    return STORE_OK;
}

bool log_chain_has_records(const struct log_chain *chain)
{
    for (size_t i = 0; i < chain->end_count; i++)
        if (chain->ends[i].end > 0)
            return true;
    return false;
}

void log_chain_release(struct log_chain *chain)
{
    free(chain->ends);
}

static enum store_result settle(int records, const struct log_end *log, bool is_longer)
{
    char name[RECORDS_NAME_SIZE];
    bool settled;
    int fd;

    records_file_name(name, RECORDS_LOG, log->number);
    fd = openat(records, name, O_WRONLY | O_CLOEXEC);
    settled = fd >= 0 && (!is_longer || ftruncate(fd, (off_t)log->end) == 0) && fsync(fd) == 0;
    if (!settled)
        log_errno("store: truncate and sync records/%s", name);
    if (fd >= 0)
        close(fd);
    return settled ? STORE_OK : STORE_IO;
}

enum store_result log_chain_settle(int records, const struct records_files *files,
                                   const struct log_chain *chain)
{
    enum store_result result = STORE_OK;

    for (size_t i = 0; i < chain->end_count && !result; i++) {
        const struct log_end *log = &chain->ends[i];
        uint64_t size = records_files_find(files, RECORDS_LOG, log->number)->size;

        if (size > 0) /* an empty one could as well be missing */
            result = settle(records, log, size > log->end);
    }
    return result;
}
