/* Functions called by RocksDB instead of its own. Its C++ symbols are those of RocksDB 7.8. */
#include "store/embedded/interposed.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/log.h"

#define INTERPOSES(symbol) __asm__(symbol) __attribute__((used))

/* ---- functions that were called ---- */

static atomic_bool called[INTERPOSED_COUNT];

/* Writes only once, so that the cache line remains shared between all cores. */
static inline void note_call(enum interposed function)
{
    if (!atomic_load_explicit(&called[function], memory_order_relaxed))
        atomic_store_explicit(&called[function], true, memory_order_relaxed);
}

bool interposed_was_called(enum interposed function)
{
    return atomic_load_explicit(&called[function], memory_order_relaxed);
}

/* ---- CRC-32C, of each record of a log, each block and each table ---- */

uint32_t interposed_crc32c(uint32_t crc, const char *data, size_t len)
    INTERPOSES("_ZN7rocksdb6crc32c6ExtendEjPKcm");

uint32_t interposed_crc32c(uint32_t crc, const char *data, size_t len)
{
    note_call(INTERPOSED_CRC32C);
    return crc32c(crc, data, len);
}

/* A record of a log has the combined CRC of its kind and its bytes. */
uint32_t interposed_crc32c_join(uint32_t first, uint32_t second, size_t second_len)
    INTERPOSES("_ZN7rocksdb6crc32c13Crc32cCombineEjjm");

uint32_t interposed_crc32c_join(uint32_t first, uint32_t second, size_t second_len)
{
    note_call(INTERPOSED_CRC32C_JOIN);
    return crc32c_join(first, second, second_len);
}

/* ---- the order of keys in a memtable ---- */

/* A key: varint length of the rest; the key; 8 le, sequence << 8 | kind. An inserted record is
 * compared with some fifty others. RocksDB's order: bytewise by the key, then the newer sequence
 * first. */
struct memtable_key {
    const char *at; /* after the length, as in RocksDB's Slice */
    size_t length;
};

#define TAG_BYTES 8u

/* Two functions: for a comparison with a key of the memtable, and with another one. */
int interposed_compare(const void *comparator, const char *left, const char *right)
    INTERPOSES("_ZNK7rocksdb8MemTable13KeyComparatorclEPKcS3_");
int interposed_compare_with(const void *comparator, const char *left,
                            const struct memtable_key *right)
    INTERPOSES("_ZNK7rocksdb8MemTable13KeyComparatorclEPKcRKNS_5SliceE");

static inline struct memtable_key memtable_key_at(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    size_t length = *byte & 0x7f;

    for (unsigned shift = 7; *byte & 0x80; shift += 7)
        length |= (size_t)(*++byte & 0x7f) << shift;
    return (struct memtable_key){ (const char *)byte + 1, length };
}

static inline int memtable_key_compare(struct memtable_key left, struct memtable_key right)
{
    size_t left_length = left.length - TAG_BYTES, right_length = right.length - TAG_BYTES;
    size_t shorter = left_length < right_length ? left_length : right_length;
    int order = memcmp(left.at, right.at, shorter);
    uint64_t newer, older;

    if (order != 0)
        return order;
    if (left_length != right_length)
        return left_length < right_length ? -1 : 1;
    newer = le64_get(left.at + left_length) >> 8;
    older = le64_get(right.at + right_length) >> 8;
    return newer > older ? -1 : newer < older;
}

int interposed_compare(const void *comparator, const char *left, const char *right)
{
    (void)comparator;
    return memtable_key_compare(memtable_key_at(left), memtable_key_at(right));
}

int interposed_compare_with(const void *comparator, const char *left,
                            const struct memtable_key *right)
{
    (void)comparator;
    return memtable_key_compare(memtable_key_at(left), *right);
}

/* ---- hooks for RocksDB's own tests ---- */

/* Debian's library contains the sync points for tests, and passes some twenty of them per record.
 * They do nothing unless a test has enabled them, which is never the case here. */
void interposed_sync_point(void *points, const void *point, void *argument)
    INTERPOSES("_ZN7rocksdb9SyncPoint7ProcessERKNS_5SliceEPv");

void interposed_sync_point(void *points, const void *point, void *argument)
{
    (void)points;
    (void)point;
    (void)argument;
    note_call(INTERPOSED_SYNC_POINT);
}

/* ---- reads that do not wait ---- */

static _Thread_local enum file_reads allowed;
static atomic_bool may_wait;

void file_reads_are(enum file_reads reads)
{
    allowed = reads;
}

bool file_reads_may_wait(void)
{
    return atomic_load_explicit(&may_wait, memory_order_relaxed);
}

void interposed_prove(enum interposed_stage stage)
{
    static atomic_flag said[2] = { ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT };
    bool sums =
        interposed_was_called(INTERPOSED_CRC32C) && interposed_was_called(INTERPOSED_CRC32C_JOIN);
    bool waits = (stage == STAGE_TABLES_READ || file_reads_may_wait()) &&
                 !interposed_was_called(INTERPOSED_PREAD);

    if (!sums && !atomic_flag_test_and_set(&said[0]))
        log_line(LOG_WARN, "store: this RocksDB takes its checksums itself, which costs more");
    atomic_store_explicit(&may_wait, waits, memory_order_relaxed);
    if (waits && !atomic_flag_test_and_set(&said[1]))
        log_line(LOG_WARN,
                 "store: this RocksDB does not read through the program's pread(), so its tables "
                 "are read by threads that may wait, which costs more");
}

static _Atomic(read_check_fn *) read_check;

void interposed_check_reads(read_check_fn *check)
{
    atomic_store_explicit(&read_check, check, memory_order_release);
}

static int check_read(int fd, off_t at, size_t size)
{
    read_check_fn *check = atomic_load_explicit(&read_check, memory_order_acquire);

    return check ? check(fd, (uint64_t)at, size, allowed == READ_PAGE_CACHE) : 0;
}

/* RocksDB 7.8 reads its tables only with this function; the program itself uses pread64(). */
ssize_t interposed_pread(int fd, void *to, size_t size, off_t at) INTERPOSES("pread");

ssize_t interposed_pread(int fd, void *to, size_t size, off_t at)
{
    struct iovec all = { to, size };
    ssize_t done = -1;
    int refusal = EAGAIN;

    note_call(INTERPOSED_PREAD);
    if (allowed != READ_NOTHING)
        refusal = check_read(fd, at, size);
    if (refusal != 0)
        errno = refusal;
    else
        done = preadv2(fd, &all, 1, at, allowed == READ_PAGE_CACHE ? RWF_NOWAIT : 0);
    if (done < 0 && errno == EOPNOTSUPP)
        errno = EAGAIN; /* a file system that does not support this: it may wait */
    return done;
}

/* ---- syncs deferred to the caller ---- */

static _Thread_local enum file_syncs syncs;

void file_syncs_are(enum file_syncs which)
{
    syncs = which;
}

enum file_syncs file_syncs_now(void)
{
    return syncs;
}

typedef int sync_fn(int fd);

/* Calls the function of the next library. A test program that defines its own leaves these out
 * (weak). */
static int sync_by(_Atomic(sync_fn *) *known, const char *name, int fd)
{
    sync_fn *next = atomic_load_explicit(known, memory_order_relaxed);

    note_call(INTERPOSED_SYNC);
    if (syncs == SYNC_LATER)
        return 0;
    if (!next) {
        *(void **)&next = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(known, next, memory_order_relaxed);
    }
    return next(fd);
}

int interposed_fsync(int fd) __asm__("fsync") __attribute__((used, weak));
int interposed_fdatasync(int fd) __asm__("fdatasync") __attribute__((used, weak));

int interposed_fsync(int fd)
{
    static _Atomic(sync_fn *) next;

    return sync_by(&next, "fsync", fd);
}

int interposed_fdatasync(int fd)
{
    static _Atomic(sync_fn *) next;

    return sync_by(&next, "fdatasync", fd);
}
