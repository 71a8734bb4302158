/* Reads of RocksDB that do not wait for the disk. Its own way of not waiting is to read nothing that
 * is outside its block cache, though most of it is in the kernel's page cache, and a block from there
 * costs less than handing the request to a thread that may wait. It has no option for that, so its
 * calls of pread(2) come to ours: the program's function comes before the C library's.
 * decision: 227 */
#ifndef LAGRA_STORE_EMBEDDED_PAGE_CACHE_H
#define LAGRA_STORE_EMBEDDED_PAGE_CACHE_H

#include <stdbool.h>

/* From now on this thread's pread() fails with EAGAIN where it would wait for the disk, or not any
 * more. Any thread. */
void page_cache_only(bool only);

#endif
