/* Functions that RocksDB calls and the program replaces by symbol interposition: the dynamic linker
 * looks a symbol up in the program before the library that defines it. Each does the same as the
 * original, with one improvement:
 *
 *   CRC-32C, and combining two        Debian's RocksDB uses tables. decision: 217, 220
 *   the order of keys in a memtable   without two more calls and a counter. decision: 217
 *   SyncPoint::Process                a hook for RocksDB's own tests; ours returns. decision: 660
 *   pread(2)                          does not wait for the disk if the caller may not.
 *                                     decision: 227
 *   fsync(2), fdatasync(2)            do nothing while the caller will sync everything itself.
 *                                     decision: 636
 *
 * If a version of the library no longer calls a symbol, or binds it itself, its own function is
 * used. So the replacements for checksums and reads record that they were called; startup checks
 * that, and logs those that were not. Without the checksums only speed is lost; without pread(),
 * tables are only read by threads that may wait. decision: 291
 *
 * RocksDB's own mode without waits reads nothing outside its block cache, although most blocks are
 * in the kernel's page cache, and reading a block from there is cheaper than passing the request to
 * a thread that may wait. Moreover, if a table is not open, RocksDB then reports that the record
 * exists and is empty. */
#ifndef LAGRA_STORE_EMBEDDED_INTERPOSED_H
#define LAGRA_STORE_EMBEDDED_INTERPOSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum interposed {
    INTERPOSED_CRC32C,
    INTERPOSED_CRC32C_JOIN,
    INTERPOSED_PREAD,
    INTERPOSED_SYNC,
    INTERPOSED_SYNC_POINT,
    INTERPOSED_COUNT,
};
/* Returns true if it was called since the process began. Thread-safe. */
bool interposed_was_called(enum interposed function);

/* When to check that RocksDB has made the expected calls. Opening a key space writes its MANIFEST,
 * with checksums. Opening one that has tables reads them, and so does the flush that creates the
 * first table. */
enum interposed_stage { STAGE_OPEN, STAGE_TABLES_READ };
/* Checks that, and logs each missing call once. Startup thread, the guard of the MANIFEST. */
void interposed_prove(enum interposed_stage stage);

/* Restricts the reads of a thread's pread(); other reads fail with EAGAIN. */
enum file_reads { READ_ALL, READ_PAGE_CACHE, READ_NOTHING };
/* Thread-safe. */
void file_reads_are(enum file_reads reads);
/* Called before each pread() of RocksDB. Returns 0, or the errno with which it fails. no_wait: for
 * a read that may only use the page cache */
typedef int read_check_fn(int fd, uint64_t at, size_t size, bool no_wait);
/* NULL means none. Thread-safe. */
void interposed_check_reads(read_check_fn *check);
/* Whether this thread syncs files immediately, or its caller syncs them at the end. */
enum file_syncs { SYNC_NOW, SYNC_LATER };
/* Thread-safe. */
void file_syncs_are(enum file_syncs syncs);
enum file_syncs file_syncs_now(void);
/* Returns true if RocksDB reads tables without our pread(). Callers that may not block must then
 * not let it read. Thread-safe. */
bool file_reads_may_wait(void);

#endif
