/* What a client sends once more, because it does not know whether it came: by the channel sequence of its file, by the
 * GUID of a create, by the sequence of a lock. ms-smb2: 3.3.5.2.10, 3.3.5.9.10, 3.3.5.14 */
#ifndef LAGRA_SMB_REPLAY_H
#define LAGRA_SMB_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* ---- channel sequences: pure ---- */

/* Of an open, how many requests are in work by it: of its sequence, and of those before. Sequences go round, and a
 * request may last; so each change of the sequence has a number of its own. */
struct channel_sequence {
    uint16_t sequence;
    uint64_t changes;
    uint32_t now, before;
};
/* A request with this sequence begins. modifies: WRITE, SET_INFO, IOCTL.
 * *ret_change: for channel_sequence_end()
 * returns false: it comes too late, or what it repeats may still be in work; it does not count then.
 * ms-smb2: 3.3.5.2.10 */
bool channel_sequence_begin(struct channel_sequence *open, uint16_t sequence, bool modifies,
                            bool replays, uint64_t *ret_change);
void channel_sequence_end(struct channel_sequence *open, uint64_t change);

/* ---- lock sequences: pure ---- */

#define LOCK_SEQUENCES     64u /* ms-smb2: 3.3.1.10 "LockSequenceArray" */
#define LOCK_SEQUENCE_NONE 0xFFu

/* What a LOCK says: an index of 1 to 64, and a number of 0 to 15; index 0, or beyond: it is not kept. */
struct lock_sequence {
    uint32_t index;
    uint8_t number;
};
struct lock_sequence lock_sequence_read(uint32_t field);
/* It was done before. Else the entry is forgotten until lock_sequence_done(). */
bool lock_sequence_is_repeated(uint8_t entries[LOCK_SEQUENCES], const struct lock_sequence *lock);
void lock_sequence_done(uint8_t entries[LOCK_SEQUENCES], const struct lock_sequence *lock);

#endif
