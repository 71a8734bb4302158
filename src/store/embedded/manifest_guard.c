/* Checkpoints of the MANIFEST. */
#include "store/embedded/manifest_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/records_files.h"

#define NOTE_OFFSET 16
#define NOTE_SIZE   36
#define COPY_BEGIN  "manifest-"
#define BUSY_MS     200  /* RocksDB flushes or compacts: its MANIFEST will grow without a sync */
#define RETRY_MS    1000 /* a checkpoint failed */

static const char magic[8] = "LAGRAMAN";

void manifest_copy_name(char to[MANIFEST_COPY_NAME_SIZE], uint64_t number)
{
    snprintf(to, MANIFEST_COPY_NAME_SIZE, COPY_BEGIN "%06" PRIu64, number);
}

static bool is_copy_name(const char *name)
{
    return strncmp(name, COPY_BEGIN, sizeof COPY_BEGIN - 1) == 0;
}

enum store_result manifest_checkpoint_read(int synced, struct manifest_checkpoint *ret_checkpoint)
{
    unsigned char bytes[NOTE_SIZE];
    ssize_t size = file_read_at(synced, bytes, sizeof bytes, NOTE_OFFSET);

    *ret_checkpoint = (struct manifest_checkpoint){ 0 };
    if (size < 0) {
        log_errno("store: read the checkpoint of the MANIFEST");
        return STORE_IO;
    }
    if (size == NOTE_SIZE && memcmp(bytes, magic, sizeof magic) == 0 &&
        crc32c(0, bytes, NOTE_SIZE - 4) == le32_get(bytes + NOTE_SIZE - 4))
        *ret_checkpoint = (struct manifest_checkpoint){
            .number = le64_get(bytes + 8),
            .length = le64_get(bytes + 16),
            .crc = le64_get(bytes + 24),
        };
    else if (size > 0)
        log_line(LOG_WARN,
                 "store: the checkpoint of the MANIFEST in `synced` is damaged; only the logs "
                 "are verified instead");
    return STORE_OK;
}

static bool write_note(const struct manifest_guard *guard)
{
    unsigned char bytes[NOTE_SIZE];

    memcpy(bytes, magic, sizeof magic);
    le64_put(bytes + 8, guard->checkpoint.number);
    le64_put(bytes + 16, guard->checkpoint.length);
    le64_put(bytes + 24, guard->checkpoint.crc);
    le32_put(bytes + NOTE_SIZE - 4, crc32c(0, bytes, NOTE_SIZE - 4));
    return pwrite(guard->synced, bytes, sizeof bytes, NOTE_OFFSET) == (ssize_t)sizeof bytes &&
           fdatasync(guard->synced) == 0;
}

enum store_result manifest_find_copy(int folder, bool *ret_found)
{
    DIR *dir = file_list(folder, ".");
    const struct dirent *entry;
    bool listed = dir;

    *ret_found = false;
    while (listed && (entry = file_next_entry(dir)))
        *ret_found |= is_copy_name(entry->d_name);
    listed = listed && errno == 0;
    if (dir)
        closedir(dir);
    if (!listed)
        log_errno("store: list the data directory");
    return listed ? STORE_OK : STORE_IO;
}

/* Removes the copies of older MANIFESTs, to which nothing refers. */
static void remove_old_copies(const struct manifest_guard *guard)
{
    char kept[MANIFEST_COPY_NAME_SIZE];
    DIR *dir = file_list(guard->folder, ".");
    const struct dirent *entry;

    manifest_copy_name(kept, guard->checkpoint.number);
    while (dir && (entry = readdir(dir)))
        if (is_copy_name(entry->d_name) && strcmp(entry->d_name, kept) != 0)
            unlinkat(guard->folder, entry->d_name, 0);
    if (dir)
        closedir(dir);
}

static void close_files(struct manifest_guard *guard)
{
    if (guard->source >= 0)
        close(guard->source);
    if (guard->copy >= 0)
        close(guard->copy);
    guard->source = -1;
    guard->copy = -1;
}

/* Opens the MANIFEST that CURRENT names, and starts its copy. */
static bool open_files(struct manifest_guard *guard)
{
    char name[RECORDS_NAME_SIZE], copy_name[MANIFEST_COPY_NAME_SIZE];

    guard->checkpoint = (struct manifest_checkpoint){ 0 };
    if (records_current(guard->records, &guard->checkpoint.number))
        return false;
    records_file_name(name, RECORDS_MANIFEST, guard->checkpoint.number);
    manifest_copy_name(copy_name, guard->checkpoint.number);
    guard->source = openat(guard->records, name, O_RDONLY | O_CLOEXEC);
    if (guard->source < 0)
        return false;
    guard->copy = openat(guard->folder, copy_name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return guard->copy >= 0;
}

/* Appends the new part to the copy, and updates the checksum. */
static bool copy_new(struct manifest_guard *guard, uint64_t length)
{
    char buffer[16384];
    struct manifest_checkpoint *checkpoint = &guard->checkpoint;

    while (checkpoint->length < length) {
        uint64_t left = length - checkpoint->length;
        size_t want = left < sizeof buffer ? (size_t)left : sizeof buffer;
        ssize_t n = file_read_at(guard->source, buffer, want, checkpoint->length);

        if (n <= 0 || pwrite(guard->copy, buffer, (size_t)n, (off_t)checkpoint->length) != n)
            return false;
        checkpoint->crc = crc64(checkpoint->crc, buffer, (size_t)n);
        checkpoint->length += (uint64_t)n;
    }
    return true;
}

/* The order of the steps matters: the recorded bytes must be durable, in the MANIFEST and in its
 * copy, and so must their names. */
static bool take_note(struct manifest_guard *guard)
{
    struct stat status;
    bool is_new;

    if (guard->source >= 0 && fstat(guard->source, &status) == 0 && status.st_nlink == 0)
        close_files(guard);
    is_new = guard->source < 0;
    if (is_new && !open_files(guard))
        return false;
    if (fstat(guard->source, &status) < 0 || fdatasync(guard->source) < 0 ||
        !copy_new(guard, (uint64_t)status.st_size) || fdatasync(guard->copy) < 0 ||
        (is_new && (fsync(guard->records) < 0 || fsync(guard->folder) < 0)) || !write_note(guard))
        return false;
    if (is_new)
        remove_old_copies(guard);
    atomic_store(&guard->length, guard->checkpoint.length);
    return true;
}

/* A checkpoint that fails is started again with a complete copy, because after a failed sync the
 * state of the files is unknown. The previous checkpoint remains valid. */
static void checkpoint_or_log(struct manifest_guard *guard)
{
    bool taken = take_note(guard);

    if (!taken) {
        if (!guard->failed)
            log_errno("store: checkpoint the MANIFEST");
        close_files(guard);
    }
    guard->failed = !taken;
    atomic_store(&guard->stale, !taken);
}

static bool has_changed(const struct manifest_guard *guard)
{
    struct stat status;

    return atomic_load(&guard->stale) || fstat(guard->source, &status) < 0 ||
           status.st_nlink == 0 || (uint64_t)status.st_size != atomic_load(&guard->length);
}

/* RocksDB also flushes or compacts after the last commit. */
static int next_look_ms(const struct manifest_guard *guard)
{
    if (atomic_load(&guard->stale))
        return RETRY_MS;
    return keyspace_is_busy(guard->keyspace) ? BUSY_MS : -1;
}

static void *take_checkpoints(void *argument)
{
    struct manifest_guard *guard = argument;

    lock_acquire(&guard->lock);
    while (!guard->stopping) {
        lock_release(&guard->lock);
        int timeout_ms = next_look_ms(guard);

        lock_acquire(&guard->lock);
        if (!guard->asked && !guard->stopping)
            lock_wait(&guard->lock, &guard->work, timeout_ms);
        guard->asked = false;
        lock_release(&guard->lock);
        if (has_changed(guard)) {
            checkpoint_or_log(guard);
            keyspace_prove_reads(guard->keyspace); /* there may be a first table */
        }
        lock_acquire(&guard->lock);
    }
    lock_release(&guard->lock);
    return NULL;
}

enum store_result manifest_guard_open(struct manifest_guard *guard, int folder, int synced,
                                      const struct keyspace *keyspace)
{
    *guard = (struct manifest_guard){ .keyspace = keyspace,
                                      .synced = synced,
                                      .source = -1,
                                      .copy = -1,
                                      .stale = true,
                                      .asked = true };
    guard->folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    guard->records = openat(folder, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (guard->folder < 0 || guard->records < 0) {
        log_errno("store: open the data directory");
        if (guard->folder >= 0)
            close(guard->folder);
        return STORE_IO;
    }
    lock_init(&guard->lock, RANK_SYNCER);
    lock_condition_init(&guard->work);
    return STORE_OK;
}

bool manifest_guard_start(struct manifest_guard *guard)
{
    return thread_start(&guard->thread, take_checkpoints, guard);
}

void manifest_guard_look(struct manifest_guard *guard)
{
    if (!has_changed(guard))
        return;
    lock_acquire(&guard->lock);
    if (!guard->asked) {
        guard->asked = true;
        pthread_cond_signal(&guard->work);
    }
    lock_release(&guard->lock);
}

void manifest_guard_stop(struct manifest_guard *guard)
{
    lock_acquire(&guard->lock);
    guard->stopping = true;
    pthread_cond_signal(&guard->work);
    lock_release(&guard->lock);
    thread_join(&guard->thread);
    pthread_cond_destroy(&guard->work);
    lock_destroy(&guard->lock);
}

void manifest_guard_close(struct manifest_guard *guard)
{
    if (has_changed(guard))
        checkpoint_or_log(guard);
    close_files(guard);
    close(guard->folder);
    close(guard->records);
}
