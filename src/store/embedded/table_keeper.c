/* The keeper's thread: first verifies the remaining tables, then checks for new ones from time to
 * time. */
#include "store/embedded/table_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/table_sectors.h"

#define LOOK_MS 2000

static void pause_ms(struct table_keeper *keeper, int timeout_ms)
{
    lock_acquire(&keeper->lock);
    if (!atomic_load(&keeper->stopping))
        lock_wait(&keeper->lock, &keeper->work, timeout_ms);
    lock_release(&keeper->lock);
}

/* Half of the time is left for requests that read the same disk. */
static void prove_all(struct table_keeper *keeper)
{
    struct table_proof *proof = keeper->proof;
    uint64_t began = clock_monotonic_ms(), last = began;
    bool all = true;

    for (size_t i = 0; i < proof->count && !atomic_load(&keeper->stopping); i++) {
        all &= table_proof_finish(proof, i, &keeper->stopping);
        last = clock_monotonic_ms() - last;
        if (last > 0)
            pause_ms(keeper, (int)last);
        last = clock_monotonic_ms();
    }
    if (atomic_load(&keeper->stopping) || !all || proof->count == 0)
        return;
    log_line(LOG_INFO, "store: verified %zu files of records in the background, in %llu ms",
             proof->count, (unsigned long long)(last - began));
    table_proof_leave(proof);
}

/* ---- checksums for the next start ---- */

static uint64_t table_bytes(const struct records_files *files)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < files->count; i++)
        if (files->list[i].kind == RECORDS_TABLE)
            bytes += files->list[i].size;
    return bytes;
}

static void keep_sums(const struct table_keeper *keeper, const struct records_file *file)
{
    char name[RECORDS_NAME_SIZE];
    uint32_t *sums;
    int fd;

    records_file_name(name, RECORDS_TABLE, file->number);
    fd = openat(keeper->records, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    sums = table_sectors_take(fd, file->size);
    if (sums)
        table_sectors_save(keeper->sums, file->number, sums, file->size);
    free(sums);
    close(fd);
}

/* Removes the files of tables that no longer exist. */
static void forget_others(const struct table_keeper *keeper, const struct records_files *files)
{
    DIR *dir = file_list(keeper->sums, ".");
    const struct dirent *entry;

    while (dir && (entry = file_next_entry(dir))) {
        char *end;
        uint64_t number = strtoull(entry->d_name, &end, 10);

        if (end == entry->d_name || records_files_find(files, RECORDS_TABLE, number))
            continue;
        unlinkat(keeper->sums, entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

/* Tables that are being written are in the list too, with a smaller size: at the first check they
 * are new, and at the next one their size has changed. */
static bool is_settled(const struct table_keeper *keeper, const struct records_file *file)
{
    const struct records_file *before =
        records_files_find(&keeper->seen, RECORDS_TABLE, file->number);

    return before && before->size == file->size;
}

static void keep_all(const struct table_keeper *keeper, const struct records_files *files,
                     bool is_last)
{
    for (size_t i = 0; i < files->count && (is_last || !atomic_load(&keeper->stopping)); i++) {
        const struct records_file *file = &files->list[i];
        bool is_due = is_last ? file->number >= keeper->first_new : is_settled(keeper, file);

        if (file->kind == RECORDS_TABLE && is_due &&
            !table_sectors_are_kept(keeper->sums, file->number))
            keep_sums(keeper, file);
    }
}

static bool open_sums(struct table_keeper *keeper)
{
    if (keeper->sums < 0)
        keeper->sums = table_sectors_open(keeper->folder);
    return keeper->sums >= 0;
}

static void look(struct table_keeper *keeper, bool is_last)
{
    struct records_files files;

    if (records_files_list(keeper->records, &files))
        return;
    if (table_bytes(&files) > keeper->whole_bytes && open_sums(keeper)) {
        keep_all(keeper, &files, is_last);
        forget_others(keeper, &files);
    }
    records_files_release(&keeper->seen);
    keeper->seen = files;
}

static void *keep(void *argument)
{
    struct table_keeper *keeper = argument;
    unsigned looks = 0; /* remaining checks before every table was seen twice */

    thread_give_way();
    prove_all(keeper);
    while (!atomic_load(&keeper->stopping)) {
        uint64_t version = keyspace_version(keeper->keyspace);

        looks = version != keeper->version ? 2 : looks;
        keeper->version = version;
        if (looks > 0) {
            looks--;
            look(keeper, /* is_last= */ false);
        }
        pause_ms(keeper, LOOK_MS);
    }
    return NULL;
}

/* ---- open and close ---- */

static void close_folders(const struct table_keeper *keeper)
{
    const int all[] = { keeper->folder, keeper->records, keeper->sums };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] >= 0)
            close(all[i]);
}

enum store_result table_keeper_open(struct table_keeper *keeper, int folder,
                                    const struct keyspace *keyspace, struct table_proof *proof,
                                    uint64_t whole_bytes)
{
    struct records_files files;
    enum store_result result;

    *keeper = (struct table_keeper){
        .proof = proof, .keyspace = keyspace, .whole_bytes = whole_bytes, .sums = -1
    };
    keeper->folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    keeper->records = openat(folder, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (keeper->folder < 0 || keeper->records < 0)
        log_errno("store: open the data directory");
    result = keeper->folder < 0 || keeper->records < 0
                 ? STORE_IO
                 : records_files_list(keeper->records, &files);
    if (result) {
        close_folders(keeper);
        return result;
    }
    for (size_t i = 0; i < files.count; i++)
        if (files.list[i].number >= keeper->first_new)
            keeper->first_new = files.list[i].number + 1;
    records_files_release(&files);
    lock_init(&keeper->lock, RANK_SYNCER);
    lock_condition_init(&keeper->work);
    return STORE_OK;
}

bool table_keeper_start(struct table_keeper *keeper)
{
    return thread_start(&keeper->thread, keep, keeper);
}

void table_keeper_stop(struct table_keeper *keeper)
{
    lock_acquire(&keeper->lock);
    atomic_store(&keeper->stopping, true);
    pthread_cond_signal(&keeper->work);
    lock_release(&keeper->lock);
    thread_join(&keeper->thread);
}

void table_keeper_close(struct table_keeper *keeper)
{
    look(keeper, /* is_last= */ true);
    records_files_release(&keeper->seen);
    close_folders(keeper);
    pthread_cond_destroy(&keeper->work);
    lock_destroy(&keeper->lock);
}
