/* Functions that RocksDB calls and the program replaces: the dynamic linker looks a symbol up in the
 * program first, and in the library that defines it only then (symbol interposition). Each does what
 * the one in its place does, and one thing better; where a version of the library no longer calls the
 * symbol, its own function is used, and nothing but speed is lost.
 *
 *   CRC-32C, and the joining of two   Debian's RocksDB takes them by tables. decision: 217, 220
 *   the order of keys in a memtable   without two more calls and a counter. decision: 217
 *   pread(2)                          which does not wait for the disk where the caller may not.
 *                                     decision: 227
 *
 * RocksDB's own way of not waiting is to read nothing that is outside its block cache, though most of
 * it is in the kernel's page cache, and a block from there costs less than handing the request to a
 * thread that may wait. And where a table is not open, its answer then is that the record is there, and
 * empty. */
#ifndef LAGRA_STORE_EMBEDDED_INTERPOSED_H
#define LAGRA_STORE_EMBEDDED_INTERPOSED_H

/* What a thread's pread() reads from now on; the rest fails with EAGAIN. */
enum file_reads { READ_ALL, READ_PAGE_CACHE, READ_NOTHING };
/* Any thread. */
void file_reads_are(enum file_reads reads);

#endif
