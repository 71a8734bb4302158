/* The ETags that the server decided on, as its decisions return them: of what it changed, and of the
 * source that it found for a copy; the date of a snapshot, since those of two shares may have the same; and how a
 * copy begins. So the judge knows at a commit which version was copied, though that was read some time before. */
#ifndef LAGRA_SIM_FS_SEEN_H
#define LAGRA_SIM_FS_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "copy_terms.h"

struct fs_seen {
    uint64_t written, read; /* 0: none yet */
    uint64_t snapshot;      /* the date of the one that it made, in ticks */
    struct copy_id copy;
    bool
        waits_to_write; /* the newest decision waits for other clients, and is not about the source */
    bool copy_is_pending;
    bool copy_is_dense; /* it writes all bytes of the source, not the ranges that it has */
};

/* Of the last decisions for the client. */
struct fs_seen fs_seen(unsigned slot);
void fs_seen_clear(unsigned slot);
/* Of a commit that the client's request began some time ago: before it is judged. */
void fs_seen_put(unsigned slot, const struct fs_seen *of_commit);

#endif
