/* A disk that lies: it has or gives other bytes than were written and synced. */
#ifndef LAGRA_SIM_DAMAGE_H
#define LAGRA_SIM_DAMAGE_H

#include "disk.h"

/* Changes what is on the disk: a bit, a byte, a sector of zeros, of another place, of another time
 * (a write that was lost), a write that went elsewhere. but_logs: not in a log of records. False when
 * there was nothing to change. */
bool damage_disk(bool but_logs, enum file_kind *ret_file, char *ret_what, size_t size);
/* Changes bytes that were just read from there; the disk has them still. */
bool damage_read(const struct inode *inode, uint64_t at, unsigned char *bytes, size_t count,
                 char *ret_what, size_t size);

#endif
