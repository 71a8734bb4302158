/* Holds a state for a backup, and turns its copy into a data folder: see store/backup.h. */
#include "store/embedded/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "store/embedded/damage.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/folder.h"
#include "store/embedded/log_chain.h"
#include "store/embedded/records_files.h"
#include "store/embedded/table_sectors.h"

/* RocksDB creates a checkpoint under this name before it renames it. */
#define RECORDS_BEGUN BACKUP_RECORDS ".tmp"

/* ---- the folder of the records ---- */

/* Removes a folder that contains only files. */
static void remove_folder(int folder, const char *name)
{
    DIR *dir = file_list(folder, name);
    const struct dirent *entry;

    if (!dir) {
        if (errno != ENOENT)
            log_errno("store: open %s", name);
        return;
    }
    while ((entry = file_next_entry(dir)))
        if (entry->d_name[0] != '.' && unlinkat(dirfd(dir), entry->d_name, 0) < 0)
            log_errno("store: remove %s/%s", name, entry->d_name);
    closedir(dir);
    if (unlinkat(folder, name, AT_REMOVEDIR) < 0)
        log_errno("store: remove %s", name);
}

void backup_remove_records(int folder)
{
    remove_folder(folder, BACKUP_RECORDS);
    remove_folder(folder, RECORDS_BEGUN);
}

/* ---- the state ---- */

/* Starts the hold first. It retains pieces that are freed later, and those freed earlier by commits
 * that are not part of the checkpoint. */
enum store_result embedded_backup_begin(struct store *store, struct backup_state *ret_state)
{
    struct embedded *embedded = embedded_of(store);
    enum store_result result;

    if (!extents_hold(&embedded->extents))
        return STORE_BUSY;
    result = keyspace_checkpoint(&embedded->keyspace, embedded->backup_records);
    if (result) {
        embedded_backup_end(store);
        return result;
    }
    extents_hold_to_end(&embedded->extents, &ret_state->last_extent, &ret_state->last_end);
    return STORE_OK;
}

bool embedded_backup_copied(struct store *store, uint32_t extent)
{
    return extents_hold_after(&embedded_of(store)->extents, extent);
}

bool embedded_backup_end(struct store *store)
{
    struct embedded *embedded = embedded_of(store);
    bool held;

    /* Remove the records before the next backup may create them again. */
    backup_remove_records(embedded->space.folder);
    held = extents_end_hold(&embedded->extents);
    collector_poke(&embedded->collector);
    return held;
}

/* ---- the copy ---- */

/* Contents of the files of records/. */
struct records {
    int fd;
    struct records_files files;
    struct manifest manifest;
    struct log_chain chain;
};

static enum store_result read_manifest(struct records *records, struct damage *damage)
{
    char name[RECORDS_NAME_SIZE];
    uint64_t number;
    enum store_result result = records_current(records->fd, &number);
    int fd;

    if (result == STORE_NOT_FOUND)
        damage_found(damage, "records/CURRENT is missing or damaged");
    if (result)
        return result == STORE_NOT_FOUND ? STORE_CORRUPT : result;
    records_file_name(name, RECORDS_MANIFEST, number);
    fd = openat(records->fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        damage_found(damage, "records/%s cannot be opened: %s", name, strerror(errno));
        return STORE_CORRUPT;
    }
    result = manifest_read(fd, UINT64_MAX, &records->manifest);
    close(fd);
    if (result == STORE_CORRUPT || (!result && records->manifest.torn))
        damage_found(damage, "records/%s is damaged", name);
    return result || damage->count == 0 ? result : STORE_CORRUPT;
}

static enum store_result settle(struct records *records, struct damage *damage)
{
    enum store_result result = records_files_list(records->fd, &records->files);

    if (!result)
        result = read_manifest(records, damage);
    if (!result)
        result = log_chain_follow(records->fd, &records->files, &records->manifest, damage,
                                  &records->chain);
    if (!result && damage->count > 0)
        result = STORE_CORRUPT;
    return result ? result : log_chain_settle(records->fd, &records->files, &records->chain);
}

static enum store_result record_sequence(int folder, uint64_t sequence)
{
    uint64_t before;
    int synced;
    enum store_result result = syncer_open_record(folder, &synced, &before);

    if (result)
        return result;
    result = syncer_record_start(folder, synced, sequence);
    close(synced);
    return result;
}

enum store_result store_backup_seal(int folder, uint64_t *ret_sequence, const char **ret_problem)
{
    static char text[512];
    struct records records = { .fd =
                                   openat(folder, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
    struct damage damage = { 0 };
    enum store_result result;

    *ret_problem = "its records cannot be read";
    if (records.fd < 0) {
        log_errno("store: open the folder of records");
        return STORE_IO;
    }
    result = settle(&records, &damage);
    if (damage.count > 0) {
        snprintf(text, sizeof text, "%s", damage.first);
        *ret_problem = text;
    }
    if (!result)
        result = record_sequence(folder, records.chain.sequence);
    if (!result && !folder_write_format(folder)) {
        log_errno("store: write `format`");
        result = STORE_IO;
    }
    *ret_sequence = records.chain.sequence;
    damage_release(&damage);
    log_chain_release(&records.chain);
    manifest_release(&records.manifest);
    records_files_release(&records.files);
    close(records.fd);
    return result;
}

void store_backup_keep_sums(int folder, const char *name, int fd, uint64_t size)
{
    static const char records[] = "records/";
    enum records_kind kind;
    uint64_t number;
    uint32_t *sums;
    int to;

    if (strncmp(name, records, sizeof records - 1) != 0 ||
        !records_parse_name(name + sizeof records - 1, &kind, &number) || kind != RECORDS_TABLE)
        return;
    sums = table_sectors_take(fd, size);
    to = sums ? table_sectors_open(folder) : -1;
    if (to >= 0) {
        table_sectors_save(to, number, sums, size);
        close(to);
    }
    free(sums);
}
