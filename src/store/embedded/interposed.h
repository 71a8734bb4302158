/* Functions that RocksDB calls and the program replaces: the dynamic linker looks a symbol up in the
 * program first, and in the library that defines it only then (symbol interposition). Each does what
 * the one in its place does, and one thing better:
 *
 *   CRC-32C, and the joining of two   Debian's RocksDB takes them by tables. decision: 217, 220
 *   the order of keys in a memtable   without two more calls and a counter. decision: 217
 *   SyncPoint::Process                where RocksDB's own tests stop it; ours returns. decision: 660
 *   pread(2)                          which does not wait for the disk where the caller may not.
 *                                     decision: 227
 *   fsync(2), fdatasync(2)            which do nothing while the caller is to sync all itself. decision: 636
 *
 * Where a version of the library no longer calls a symbol, or binds it itself, its own function is used.
 * So those of sums and reads note that they were called, and a start looks: it logs what RocksDB does
 * itself, and goes on without. Of checksums that costs speed alone; reads of tables are then left to
 * threads that may wait. decision: 291
 *
 * RocksDB's own way of not waiting is to read nothing that is outside its block cache, though most of
 * it is in the kernel's page cache, and a block from there costs less than handing the request to a
 * thread that may wait. And where a table is not open, its answer then is that the record is there, and
 * empty. */
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
/* Since the process began. Any thread. */
bool interposed_was_called(enum interposed function);

/* What RocksDB must have called ours for by now. Opening a key space writes its MANIFEST, with
 * checksums. Opening one that has tables reads them, and so does the flush that makes the first. */
enum interposed_stage { STAGE_OPEN, STAGE_TABLES_READ };
/* Looks whether it has, and logs, once, what it has not. Start-up thread, the guard of the MANIFEST. */
void interposed_prove(enum interposed_stage stage);

/* What a thread's pread() reads from now on; the rest fails with EAGAIN. */
enum file_reads { READ_ALL, READ_PAGE_CACHE, READ_NOTHING };
/* Any thread. */
void file_reads_are(enum file_reads reads);
/* Called before each pread() of RocksDB: 0, or the errno that it fails with. no_wait: as of a read that may take what is in
 * the page cache alone. */
typedef int read_check_fn(int fd, uint64_t at, size_t size, bool no_wait);
/* NULL: none. Any thread. */
void interposed_check_reads(read_check_fn *check);
/* Whether files are synced by this thread from now on, or by its caller at the end. */
enum file_syncs { SYNC_NOW, SYNC_LATER };
/* Any thread. */
void file_syncs_are(enum file_syncs syncs);
enum file_syncs file_syncs_now(void);
/* Does RocksDB read tables without asking? A caller that may not block must not have it read. Any thread. */
bool file_reads_may_wait(void);

#endif
