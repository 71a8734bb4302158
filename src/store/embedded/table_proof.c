/* Tracks which parts of a table are verified, for each read of RocksDB. */
#include "store/embedded/table_proof.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/embedded/interposed.h"
#include "store/embedded/records_files.h"
#include "store/embedded/table_sectors.h"
#include "store/embedded/table_sums.h"

#define ASKED_NAME    "prove-tables"
#define PROOFS_MAX    8 /* stores that one process has open at the same time */
#define DRAIN_POLL_NS 1000000u

enum table_state { TABLE_UNPROVEN, TABLE_PROVEN, TABLE_DAMAGED };

/* The expected checksum of each sector, and whether it was verified. */
struct sector_sums {
    uint32_t *sums;
    atomic_bool *proven;
};

struct unproven {
    dev_t device;
    ino_t inode;
    struct timespec changed;
    struct manifest_table table;
    _Atomic(struct sector_sums *) sectors; /* NULL means not loaded, or there are none */
    atomic_bool lacks_sums;
    atomic_int state; /* enum table_state */
};

/* ---- findings ---- */

static void ask_next_start(int folder)
{
    int fd = openat(folder, ASKED_NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || fsync(fd) < 0 || fsync(folder) < 0)
        log_errno("store: make " ASKED_NAME);
    if (fd >= 0)
        close(fd);
}

static void found(struct table_proof *proof, struct unproven *table)
{
    char sentence[128];
    void (*damaged)(void *context) = NULL;

    if (atomic_exchange(&table->state, TABLE_DAMAGED) == TABLE_DAMAGED)
        return;
    snprintf(sentence, sizeof sentence, TABLE_SUM_IS_WRONG, table->table.number);
    log_line(LOG_ERROR, "store: %s", sentence);
    ask_next_start(proof->folder);
    lock_acquire(&proof->lock);
    if (!proof->finding) {
        proof->finding = xstrdup(sentence);
        damaged = proof->damaged;
    }
    lock_release(&proof->lock);
    if (damaged)
        damaged(proof->context);
}

const char *table_proof_finding(struct table_proof *proof)
{
    const char *finding;

    lock_acquire(&proof->lock);
    finding = proof->finding;
    lock_release(&proof->lock);
    return finding;
}

void table_proof_on_damage(struct table_proof *proof, void (*damaged)(void *context), void *context)
{
    bool is_found;

    lock_acquire(&proof->lock);
    proof->damaged = damaged;
    proof->context = context;
    is_found = proof->finding;
    lock_release(&proof->lock);
    if (is_found)
        damaged(context);
}

/* ---- a table ---- */

static struct sector_sums *sectors_new(uint64_t size)
{
    struct sector_sums *sectors = xcalloc(1, sizeof *sectors);

    sectors->sums = xcalloc(table_sectors_count(size), sizeof sectors->sums[0]);
    sectors->proven = xcalloc(table_sectors_count(size), sizeof sectors->proven[0]);
    return sectors;
}

static void sectors_free(struct sector_sums *sectors)
{
    if (!sectors)
        return;
    free(sectors->sums);
    free(sectors->proven);
    free(sectors);
}

/* Returns the saved checksums of a table; NULL means there are none. */
static struct sector_sums *sectors_of(struct table_proof *proof, struct unproven *table)
{
    struct sector_sums *sectors = atomic_load(&table->sectors), *other = NULL;
    const struct manifest_table *is = &table->table;

    if (sectors || atomic_load(&table->lacks_sums))
        return sectors;
    sectors = sectors_new(is->size);
    if (!table_sectors_load(proof->sums, is->number, is->size, is->crc, sectors->sums)) {
        sectors_free(sectors);
        atomic_store(&table->lacks_sums, true);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&table->sectors, &other, sectors))
        return sectors;
    sectors_free(sectors); /* another thread was faster */
    return other;
}

/* Returns 0, or an errno: EAGAIN (it would have to wait), EIO (damaged or unreadable). */
static int prove_sectors(struct table_proof *proof, struct unproven *table,
                         struct sector_sums *sectors, int fd, size_t from, size_t to, bool no_wait)
{
    char *buffer = NULL;
    uint32_t sum;
    int error = 0;

    for (size_t i = from; i < to && error == 0; i++) {
        if (atomic_load_explicit(&sectors->proven[i], memory_order_acquire))
            continue;
        buffer = buffer ? buffer : xmalloc(TABLE_SECTOR_BYTES);
        if (!table_sectors_read(fd, table->table.size, i, no_wait, buffer, &sum)) {
            error = errno != 0 ? errno : EIO;
        } else if (sum != sectors->sums[i]) {
            found(proof, table);
            error = EIO;
        } else {
            atomic_store_explicit(&sectors->proven[i], true, memory_order_release);
        }
        atomic_fetch_add(&proof->bytes_read, TABLE_SECTOR_BYTES);
    }
    free(buffer);
    return error;
}

/* Reads the entire table, and saves the checksums of its sectors. Returns the results of
 * prove_sectors(). */
static int sum_whole(struct table_proof *proof, struct unproven *table, int fd, bool *ret_is_right)
{
    uint64_t size = table->table.size;
    uint32_t *sums = table_sectors_take(fd, size);
    int error = sums ? 0 : errno != 0 ? errno : EIO;

    *ret_is_right = sums && table_sectors_join(sums, size) == table->table.crc;
    if (*ret_is_right)
        table_sectors_save(proof->sums, table->table.number, sums, size);
    atomic_fetch_add(&proof->bytes_read, size);
    free(sums);
    return error;
}

static void set_proven(struct unproven *table)
{
    int unproven = TABLE_UNPROVEN;

    (void)atomic_compare_exchange_strong(&table->state, &unproven, TABLE_PROVEN);
}

static int prove_whole(struct table_proof *proof, struct unproven *table, int fd, bool no_wait)
{
    bool is_right = true;
    int error = 0;

    if (no_wait)
        return EAGAIN;
    lock_acquire(&proof->lock);
    if (atomic_load(&table->state) == TABLE_UNPROVEN)
        error = sum_whole(proof, table, fd, &is_right);
    if (error == 0 && is_right)
        set_proven(table);
    lock_release(&proof->lock);
    if (error == 0 && !is_right)
        found(proof, table);
    return error != 0 ? error : atomic_load(&table->state) == TABLE_DAMAGED ? EIO : 0;
}

static int prove(struct table_proof *proof, struct unproven *table, int fd, uint64_t at,
                 size_t size, bool no_wait)
{
    size_t count = table_sectors_count(table->table.size);
    size_t from = (size_t)(at / TABLE_SECTOR_BYTES), to = table_sectors_count(at + size);
    struct sector_sums *sectors = atomic_load(&table->sectors);
    int state = atomic_load(&table->state);

    if (state != TABLE_UNPROVEN)
        return state == TABLE_DAMAGED ? EIO : 0;
    if (!sectors && no_wait) /* the checksums must be read from a file */
        return EAGAIN;
    if (!sectors)
        sectors = sectors_of(proof, table);
    if (!sectors)
        return prove_whole(proof, table, fd, no_wait);
    return prove_sectors(proof, table, sectors, fd, from, to < count ? to : count, no_wait);
}

/* ---- the table of a read ---- */

/* For all stores of the process: RocksDB's pread() only passes a descriptor. */
static struct {
    _Atomic(struct table_proof *) proof;
    atomic_uint users;
} slots[PROOFS_MAX];
static atomic_uint slots_used;

static int compare_inodes(const void *left, const void *right)
{
    const struct unproven *one = left, *other = right;

    if (one->inode != other->inode)
        return one->inode < other->inode ? -1 : 1;
    return 0;
}

/* Returns NULL if it is not one of them, or if the inode was reused by a newer file. */
static struct unproven *find(const struct table_proof *proof, const struct stat *status)
{
    const struct unproven key = { .inode = status->st_ino };
    struct unproven *table =
        bsearch(&key, proof->tables, proof->count, sizeof proof->tables[0], compare_inodes);

    if (!table || table->device != status->st_dev ||
        table->changed.tv_sec != status->st_mtim.tv_sec ||
        table->changed.tv_nsec != status->st_mtim.tv_nsec)
        return NULL;
    return table;
}

/* Called before each read of RocksDB. Returns 0, or an errno. */
static int check_read(int fd, uint64_t at, size_t size, bool no_wait)
{
    struct stat status;
    int error = 0;

    if (fstat(fd, &status) < 0)
        return 0; /* the read fails as well */
    for (size_t i = 0; i < PROOFS_MAX && error == 0; i++) {
        struct table_proof *proof;
        struct unproven *table;

        if (!atomic_load(&slots[i].proof))
            continue;
        atomic_fetch_add(&slots[i].users, 1);
        proof = atomic_load(&slots[i].proof);
        table = proof ? find(proof, &status) : NULL;
        if (table)
            error = prove(proof, table, fd, at, size, no_wait);
        atomic_fetch_sub(&slots[i].users, 1);
    }
    return error;
}

/* Returns false if there are too many stores. */
static bool enter(struct table_proof *proof)
{
    for (size_t i = 0; i < PROOFS_MAX; i++) {
        struct table_proof *none = NULL;

        if (!atomic_compare_exchange_strong(&slots[i].proof, &none, proof))
            continue;
        atomic_fetch_add(&slots_used, 1);
        interposed_check_reads(check_read);
        return true;
    }
    return false;
}

static void leave(const struct table_proof *proof)
{
    for (size_t i = 0; i < PROOFS_MAX; i++) {
        if (atomic_load(&slots[i].proof) != proof)
            continue;
        atomic_store(&slots[i].proof, NULL);
        while (atomic_load(&slots[i].users) > 0)
            thread_sleep_ns(DRAIN_POLL_NS);
        if (atomic_fetch_sub(&slots_used, 1) == 1)
            interposed_check_reads(NULL);
    }
}

/* ---- all of them ---- */

static bool look_up(const struct table_proof *proof, const struct manifest_table *table,
                    struct unproven *ret_unproven)
{
    char name[RECORDS_NAME_SIZE];
    struct stat status;

    records_file_name(name, RECORDS_TABLE, table->number);
    if (fstatat(proof->records, name, &status, 0) < 0) {
        log_errno("store: stat records/%s", name);
        return false;
    }
    ret_unproven->device = status.st_dev;
    ret_unproven->inode = status.st_ino;
    ret_unproven->changed = status.st_mtim;
    ret_unproven->table = *table;
    return true;
}

static bool open_folders(struct table_proof *proof, int folder)
{
    proof->sums = table_sectors_open(folder);
    proof->folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    proof->records = openat(folder, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proof->folder < 0 || proof->records < 0)
        log_errno("store: open the data directory");
    return proof->folder >= 0 && proof->records >= 0;
}

void table_proof_init(struct table_proof *proof)
{
    *proof = (struct table_proof){ .folder = -1, .records = -1, .sums = -1 };
    lock_init(&proof->lock, RANK_TABLE_PROOF);
}

enum store_result table_proof_begin(struct table_proof *proof, int folder,
                                    const struct manifest_table *tables, size_t count)
{
    if (count == 0)
        return STORE_OK;
    if (!open_folders(proof, folder))
        return STORE_IO;
    proof->tables = xcalloc(count, sizeof proof->tables[0]);
    for (size_t i = 0; i < count; i++)
        if (!look_up(proof, &tables[i], &proof->tables[i]))
            return STORE_IO;
    proof->count = count;
    qsort(proof->tables, count, sizeof proof->tables[0], compare_inodes);
    if (enter(proof))
        return STORE_OK;
    for (size_t i = 0; i < count; i++)
        if (!table_proof_finish(proof, i, NULL))
            return STORE_IO;
    return STORE_OK;
}

bool table_proof_finish(struct table_proof *proof, size_t table, const atomic_bool *stop)
{
    struct unproven *one = &proof->tables[table];
    size_t count = table_sectors_count(one->table.size);
    char name[RECORDS_NAME_SIZE];
    int fd, error = 0;

    assert(table < proof->count);
    if (atomic_load(&one->state) != TABLE_UNPROVEN)
        return true;
    records_file_name(name, RECORDS_TABLE, one->table.number);
    fd = openat(proof->records, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd < 0)
        error = errno;
    for (size_t i = 0; i < count && error == 0 && !(stop && atomic_load(stop)); i++)
        error = prove(proof, one, fd, (uint64_t)i * TABLE_SECTOR_BYTES, 1, /* no_wait= */ false);
    if (fd >= 0)
        close(fd);
    if (error == 0 && !(stop && atomic_load(stop)))
        set_proven(one);
    errno = error;
    if (error != 0 && atomic_load(&one->state) != TABLE_DAMAGED)
        log_errno("store: read records/%s", name);
    return error == 0;
}

void table_proof_leave(struct table_proof *proof)
{
    leave(proof);
    for (size_t i = 0; i < proof->count; i++)
        sectors_free(atomic_load(&proof->tables[i].sectors));
    free(proof->tables);
    proof->tables = NULL;
    proof->count = 0;
}

void table_proof_end(struct table_proof *proof)
{
    const int folders[] = { proof->folder, proof->records, proof->sums };

    table_proof_leave(proof);
    free(proof->finding);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (folders[i] >= 0)
            close(folders[i]);
    lock_destroy(&proof->lock);
}

bool table_proof_is_asked(int folder)
{
    return faccessat(folder, ASKED_NAME, F_OK, 0) == 0;
}

enum store_result table_proof_unask(int folder)
{
    if ((unlinkat(folder, ASKED_NAME, 0) < 0 && errno != ENOENT) || fsync(folder) < 0) {
        log_errno("store: remove " ASKED_NAME);
        return STORE_IO;
    }
    return STORE_OK;
}
