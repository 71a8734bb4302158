/* Selects the MANIFEST, and verifies that everything it refers to exists. */
#include "store/embedded/records_proof.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "store/embedded/log_chain.h"
#include "store/embedded/manifest.h"
#include "store/embedded/table_proof.h"
#include "store/embedded/table_sums.h"

#define RESTORED_NAME "manifest.restored" /* a copy being restored to records/ */

/* One run of the verification. */
struct proof {
    int folder;
    int records;
    enum proof_mode mode;
    uint64_t durable;
    uint64_t whole_bytes;
    struct manifest_checkpoint checkpoint;
    struct records_files files;
};

/* A MANIFEST that may be the right one, and the files it refers to. */
struct candidate {
    uint64_t number;
    int fd;
    bool is_restored; /* not in records/ yet */
    struct manifest manifest;
    struct log_chain chain;
};

static void candidate_release(struct candidate *candidate)
{
    if (candidate->fd >= 0)
        close(candidate->fd);
    log_chain_release(&candidate->chain);
    manifest_release(&candidate->manifest);
}

/* ---- 1. the MANIFEST ---- */

/* Distinguishes files that do not exist from those that cannot be opened now (too many open files,
 * a failing disk): only if one does not exist may an older state be used. */
static enum store_result could_not_open(const char *name)
{
    if (errno == ENOENT)
        return STORE_NOT_FOUND;
    log_errno("store: open %s", name);
    return STORE_IO;
}

/* Creates RESTORED_NAME: the copy up to the recorded length, then the rest of the damaged file.
 * damaged: -1: no file. *ret_fd: the new file
 *
 * Returns STORE_OK, STORE_NOT_FOUND (the copy is not as recorded), STORE_IO. */
static enum store_result build_restored(const struct proof *proof, int damaged, int *ret_fd)
{
    const struct manifest_checkpoint *checkpoint = &proof->checkpoint;
    char name[MANIFEST_COPY_NAME_SIZE];
    enum store_result result;
    struct stat status;
    uint64_t crc;
    int copy, fd;

    manifest_copy_name(name, checkpoint->number);
    copy = openat(proof->folder, name, O_RDONLY | O_CLOEXEC);
    if (copy < 0)
        return could_not_open(name);
    result = records_crc64(copy, checkpoint->length, &crc);
    if (!result && crc != checkpoint->crc)
        result = STORE_NOT_FOUND;
    fd = result
             ? -1
             : openat(proof->folder, RESTORED_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (!result && fd < 0) {
        log_errno("store: make " RESTORED_NAME);
        result = STORE_IO;
    }
    if (!result)
        result = records_copy(copy, fd, 0, checkpoint->length);
    if (!result && damaged >= 0 && fstat(damaged, &status) == 0 &&
        (uint64_t)status.st_size > checkpoint->length)
        result = records_copy(damaged, fd, checkpoint->length, (uint64_t)status.st_size);
    close(copy);
    if (result && fd >= 0)
        close(fd);
    if (!result)
        *ret_fd = fd;
    return result;
}

/* Opens a MANIFEST whose recorded bytes are verified, from its file or from the copy.
 *
 * Returns STORE_OK, STORE_CORRUPT (with a finding), STORE_IO. */
static enum store_result open_candidate(const struct proof *proof, uint64_t number,
                                        struct damage *damage, struct candidate *ret_candidate)
{
    struct candidate candidate = { .number = number };
    enum store_result result = STORE_OK;
    char name[RECORDS_NAME_SIZE];
    uint64_t crc = 0;
    int restored = -1;

    records_file_name(name, RECORDS_MANIFEST, number);
    candidate.fd = openat(proof->records, name, O_RDONLY | O_CLOEXEC);
    if (candidate.fd < 0)
        result = could_not_open(name);
    else if (number == proof->checkpoint.number)
        result = records_crc64(candidate.fd, proof->checkpoint.length, &crc);
    if (result == STORE_IO)
        goto out;
    if (number == proof->checkpoint.number &&
        (candidate.fd < 0 || result || crc != proof->checkpoint.crc)) {
        result = build_restored(proof, candidate.fd, &restored);
        if (result == STORE_NOT_FOUND) {
            damage_found(damage, "records/%s and its copy are damaged", name);
            result = STORE_CORRUPT;
        }
        if (result)
            goto out;
        if (candidate.fd >= 0)
            close(candidate.fd);
        candidate.fd = restored;
        candidate.is_restored = true;
    }
    if (candidate.fd < 0) {
        damage_found(damage, "records/%s is missing", name);
        return STORE_CORRUPT;
    }
    result = manifest_read(candidate.fd, UINT64_MAX, &candidate.manifest);
    if (result == STORE_CORRUPT)
        damage_found(damage, "records/%s cannot be read", name);
out:
    if (result)
        candidate_release(&candidate);
    else
        *ret_candidate = candidate;
    return result;
}

/* ---- 2 and 3. the files it names ---- */

/* Returns true if the checksums of tables will be verified when they are read. */
static bool is_left(const struct proof *proof, const struct manifest *manifest)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < manifest->table_count; i++)
        bytes += manifest->tables[i].size;
    return proof->mode == PROOF_MEND && bytes > proof->whole_bytes &&
           !table_proof_is_asked(proof->folder);
}

/* Collects all findings about a candidate. Returns STORE_OK (also if there is damage), STORE_IO. */
static enum store_result examine(const struct proof *proof, struct candidate *candidate,
                                 struct damage *damage)
{
    const struct manifest *manifest = &candidate->manifest;
    enum store_result result = is_left(proof, manifest)
                                   ? table_sums_check_sizes(proof->records, manifest, damage)
                                   : table_sums_check(proof->records, manifest, damage);

    if (!result)
        result = log_chain_follow(proof->records, &proof->files, &candidate->manifest, damage,
                                  &candidate->chain);
    if (!result && candidate->chain.sequence < proof->durable)
        damage_found(damage,
                     "the records end at sequence %" PRIu64 ", but all up to %" PRIu64
                     " had been acknowledged",
                     candidate->chain.sequence, proof->durable);
    return result;
}

/* Opens a candidate that refers to nothing that is missing.
 *
 * Returns STORE_OK, STORE_CORRUPT (with findings), STORE_IO. */
static enum store_result try_number(const struct proof *proof, uint64_t number,
                                    struct damage *damage, struct candidate *ret_candidate)
{
    struct candidate candidate;
    size_t before = damage->count;
    enum store_result result = open_candidate(proof, number, damage, &candidate);

    if (result)
        return result;
    result = examine(proof, &candidate, damage);
    if (!result && damage->count > before)
        result = STORE_CORRUPT;
    if (result)
        candidate_release(&candidate);
    else
        *ret_candidate = candidate;
    return result;
}

/* If CURRENT names no suitable MANIFEST, uses the newest suitable one. Findings about the others
 * are not reported then. */
static enum store_result try_others(const struct proof *proof, uint64_t tried,
                                    struct candidate *ret_candidate)
{
    enum store_result result = STORE_CORRUPT;

    for (size_t i = proof->files.count; i-- > 0 && result == STORE_CORRUPT;) {
        const struct records_file *file = &proof->files.list[i];
        struct damage unheard = { 0 };

        if (file->kind == RECORDS_MANIFEST && file->number != tried &&
            file->number >= proof->checkpoint.number)
            result = try_number(proof, file->number, &unheard, ret_candidate);
        damage_release(&unheard);
    }
    /* The recorded one may exist only as a copy. */
    if (result == STORE_CORRUPT && proof->checkpoint.number > 0 &&
        proof->checkpoint.number != tried) {
        struct damage unheard = { 0 };

        result = try_number(proof, proof->checkpoint.number, &unheard, ret_candidate);
        damage_release(&unheard);
    }
    return result;
}

/* Returns true if nothing has ever been written: no table, no log with contents, no checkpoint. */
static bool is_new(const struct proof *proof)
{
    for (size_t i = 0; i < proof->files.count; i++)
        if (proof->files.list[i].kind == RECORDS_TABLE ||
            (proof->files.list[i].kind == RECORDS_LOG && proof->files.list[i].size > 0))
            return false;
    return proof->durable == 0 && proof->checkpoint.number == 0;
}

static enum store_result choose(const struct proof *proof, struct damage *damage,
                                struct candidate *ret_candidate)
{
    struct damage found = { .say = damage->say, .context = damage->context };
    enum store_result result = STORE_CORRUPT, others;
    uint64_t current = 0;
    enum store_result named = records_current(proof->records, &current);
    bool has_current = named == STORE_OK;

    if (named == STORE_IO)
        return STORE_IO;
    /* A MANIFEST older than the checkpoint is obsolete; CURRENT itself may be older or newer. */
    if (has_current && current >= proof->checkpoint.number)
        result = try_number(proof, current, &found, ret_candidate);
    else
        damage_found(&found, has_current ? "records/CURRENT is older than the records"
                                         : "records/CURRENT is missing or damaged");
    if (result == STORE_CORRUPT) {
        others = try_others(proof, has_current && current >= proof->checkpoint.number ? current : 0,
                            ret_candidate);
        if (others != STORE_CORRUPT)
            result = others;
    }
    if (result) {
        damage->count += found.count;
        damage->first = damage->first ? damage->first : found.first;
        found.first = damage->first == found.first ? NULL : found.first;
    }
    damage_release(&found);
    return result;
}

/* ---- repair ---- */

/* Moves the candidate to the path where RocksDB expects it, and moves a damaged file there
 * aside. */
static enum store_result install(const struct proof *proof, const struct candidate *candidate)
{
    char name[RECORDS_NAME_SIZE];
    enum store_result result = STORE_OK, named;
    uint64_t current;

    records_file_name(name, RECORDS_MANIFEST, candidate->number);
    if (candidate->is_restored) {
        log_line(LOG_WARN, "store: records/%s was damaged and has been restored from its copy",
                 name);
        if (fsync(candidate->fd) < 0)
            result = STORE_IO;
        if (!result && faccessat(proof->records, name, F_OK, 0) == 0)
            result = records_move_aside(proof->folder, proof->records, name, "damaged");
        if (!result && (renameat(proof->folder, RESTORED_NAME, proof->records, name) < 0 ||
                        fsync(proof->records) < 0))
            result = STORE_IO;
        if (result)
            log_errno("store: restore records/%s", name);
    }
    named = result ? result : records_current(proof->records, &current);
    if (named == STORE_IO)
        return STORE_IO;
    if (!result && (named || current != candidate->number)) {
        log_line(LOG_WARN, "store: records/CURRENT was damaged and now names %s again", name);
        result = records_set_current(proof->records, candidate->number);
    }
    return result;
}

/* Returns true if all of it is covered by the checkpoint, which was taken of durable contents with
 * a durable name. */
static bool is_settled(const struct proof *proof, const struct candidate *candidate)
{
    return !candidate->is_restored && !candidate->manifest.torn &&
           proof->checkpoint.number == candidate->number &&
           proof->checkpoint.length == candidate->manifest.size;
}

/* Makes the MANIFEST durable as it was read. After a crash its contents may be only in memory, and
 * files moved aside because of it would be missing after a power failure. Truncates it after its
 * last complete record, because RocksDB may refuse to open it otherwise, and everything has been
 * verified without the rest. */
static enum store_result settle_manifest(const struct proof *proof,
                                         const struct candidate *candidate)
{
    bool torn = candidate->manifest.torn, settled;
    char name[RECORDS_NAME_SIZE];
    int fd;

    records_file_name(name, RECORDS_MANIFEST, candidate->number);
    fd = openat(proof->records, name, O_WRONLY | O_CLOEXEC);
    settled = fd >= 0 && (!torn || ftruncate(fd, (off_t)candidate->manifest.size) == 0) &&
              fsync(fd) == 0 && fsync(proof->records) == 0;
    if (!settled)
        log_errno("store: sync records/%s", name);
    else if (torn)
        log_line(LOG_WARN,
                 "store: truncated records/%s after its last complete record, at byte %" PRIu64,
                 name, candidate->manifest.size);
    if (fd >= 0)
        close(fd);
    return settled ? STORE_OK : STORE_IO;
}

static enum store_result move_strangers(const struct proof *proof,
                                        const struct candidate *candidate)
{
    bool *named = manifest_find_named(&candidate->manifest, &proof->files);
    enum store_result result = STORE_OK;

    for (size_t i = 0; i < proof->files.count && !result; i++) {
        const struct records_file *file = &proof->files.list[i];
        const char *why = NULL;
        char name[RECORDS_NAME_SIZE];

        if (file->kind == RECORDS_TABLE && !named[i])
            why = "no MANIFEST names it";
        else if (file->kind == RECORDS_LOG && candidate->chain.loose_from > 0 &&
                 file->number >= candidate->chain.loose_from)
            why = "the end of the previous log was lost before it was durable";
        records_file_name(name, file->kind, file->number);
        if (why)
            result = records_move_aside(proof->folder, proof->records, name, why);
    }
    free(named);
    return result;
}

static enum store_result mend(const struct proof *proof, const struct candidate *candidate)
{
    enum store_result result = install(proof, candidate);

    if (!result && !is_settled(proof, candidate))
        result = settle_manifest(proof, candidate);
    if (!result)
        result = move_strangers(proof, candidate);
    if (!result)
        result = log_chain_settle(proof->records, &proof->files, &candidate->chain);
    return result;
}

/* ---- a key space whose creation was interrupted ---- */

/* RocksDB creates a new one if there is no CURRENT and no log. */
static enum store_result set_beginnings_aside(const struct proof *proof)
{
    static const char why[] = "the start that created it was interrupted";
    enum store_result result = STORE_OK;
    char name[RECORDS_NAME_SIZE];

    for (size_t i = 0; i < proof->files.count && !result; i++) {
        records_file_name(name, proof->files.list[i].kind, proof->files.list[i].number);
        result = records_move_aside(proof->folder, proof->records, name, why);
    }
    if (!result && faccessat(proof->records, "CURRENT", F_OK, 0) == 0)
        result = records_move_aside(proof->folder, proof->records, "CURRENT", why);
    return result;
}

/* Returns STORE_OK if the creation of the key space was interrupted. Its files are synced together
 * at the end, so a power failure may leave any of them. Nothing was served from it: there is no
 * copy of a MANIFEST. Returns STORE_NOT_FOUND if it can be opened, or was served; STORE_IO. */
static enum store_result was_cut_off(const struct proof *proof)
{
    struct damage unsaid = { .say = NULL };
    struct candidate candidate;
    enum store_result result;
    bool has_copy;

    if (manifest_find_copy(proof->folder, &has_copy))
        return STORE_IO;
    if (has_copy)
        return STORE_NOT_FOUND;
    result = choose(proof, &unsaid, &candidate);
    damage_release(&unsaid);
    if (!result)
        candidate_release(&candidate);
    if (result == STORE_IO)
        return result;
    return result ? STORE_OK : STORE_NOT_FOUND;
}

/* Returns STORE_OK if RocksDB may create a key space; STORE_NOT_FOUND if there is one; STORE_IO. */
static enum store_result begin_anew(const struct proof *proof, bool has_current)
{
    enum store_result result = is_new(proof) ? STORE_OK : STORE_NOT_FOUND;

    if (!result && has_current)
        result = proof->mode == PROOF_MEND ? was_cut_off(proof) : STORE_NOT_FOUND;
    if (!result && proof->mode == PROOF_MEND)
        result = set_beginnings_aside(proof);
    return result;
}

/* ---- everything ---- */

static void take_tables(struct manifest *manifest, struct records_proof *proof)
{
    proof->unproven = manifest->tables;
    proof->unproven_count = manifest->table_count;
    manifest->tables = NULL;
    manifest->table_count = 0;
}

static enum store_result prove(const struct proof *proof, struct damage *damage,
                               struct records_proof *ret_proof)
{
    struct candidate candidate;
    enum store_result result;
    uint64_t current;

    result = records_current(proof->records, &current);
    if (result == STORE_IO)
        return result;
    result = begin_anew(proof, result == STORE_OK);
    if (!result)
        *ret_proof = (struct records_proof){ .is_new = true };
    if (result != STORE_NOT_FOUND)
        return result;
    result = choose(proof, damage, &candidate);
    if (result)
        return result;
    if (proof->mode == PROOF_MEND)
        result = mend(proof, &candidate);
    *ret_proof = (struct records_proof){ .has_logs = log_chain_has_records(&candidate.chain),
                                         .sequence = candidate.chain.sequence };
    if (!result && is_left(proof, &candidate.manifest))
        take_tables(&candidate.manifest, ret_proof);
    else if (!result && proof->mode == PROOF_MEND && table_proof_is_asked(proof->folder))
        result = table_proof_unask(proof->folder);
    candidate_release(&candidate);
    return result;
}

enum store_result records_prove(int folder, int synced, uint64_t durable, enum proof_mode mode,
                                uint64_t whole_bytes, struct damage *damage,
                                struct records_proof *ret_proof)
{
    struct proof proof = {
        .folder = folder, .mode = mode, .durable = durable, .whole_bytes = whole_bytes
    };
    enum store_result result = manifest_checkpoint_read(synced, &proof.checkpoint);

    if (result)
        return result;
    proof.records = openat(folder, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proof.records < 0) {
        log_errno("store: open the folder of records");
        return STORE_IO;
    }
    result = records_files_list(proof.records, &proof.files);
    if (!result) {
        result = prove(&proof, damage, ret_proof);
        records_files_release(&proof.files);
    }
    if (unlinkat(folder, RESTORED_NAME, 0) < 0 && errno != ENOENT)
        log_errno("store: remove " RESTORED_NAME);
    close(proof.records);
    return result;
}
