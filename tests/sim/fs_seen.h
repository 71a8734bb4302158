/* The ETags that the server decided on, as its decisions return them: of what it changed, and of the
 * source that it found for a copy; and the date of a snapshot, since those of two shares may have the same. So the judge knows at a commit which version was copied, though that
 * was read some time before. */
#ifndef LAGRA_SIM_FS_SEEN_H
#define LAGRA_SIM_FS_SEEN_H

#include <stdint.h>

struct fs_seen {
    uint64_t written, read; /* 0: none yet */
    uint64_t snapshot;      /* the date of the one that it made, in ticks */
};

/* Of the last decisions for the client. */
struct fs_seen fs_seen(unsigned slot);
void fs_seen_clear(unsigned slot);

#endif
