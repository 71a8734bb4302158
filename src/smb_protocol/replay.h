/* Replay detection for requests that a client sends again after a disconnect: by ChannelSequence,
 * CreateGuid or LockSequence. ms-smb2: 3.3.5.2.10, 3.3.5.9.10, 3.3.5.14 */
#ifndef LAGRA_SMB_PROTOCOL_REPLAY_H
#define LAGRA_SMB_PROTOCOL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* ---- channel sequences: pure ---- */

/* The ChannelSequence of an open with its numbers of outstanding requests: of the current sequence
 * (OutstandingRequestCount) and of earlier ones (OutstandingPreRequestCount). Sequences can wrap
 * around while a request is outstanding, so `changes` numbers each change of the sequence. */
struct channel_sequence {
    uint16_t sequence;
    uint64_t changes;
    uint32_t now, before;
};
/* Starts a request with this sequence. modifies: WRITE, SET_INFO, IOCTL. *ret_change: for
 * channel_sequence_end(). Returns false, without counting it, if the sequence is outdated or if the
 * original of a replay may still be in progress. ms-smb2: 3.3.5.2.10 */
bool channel_sequence_begin(struct channel_sequence *open, uint16_t sequence, bool modifies,
                            bool replays, uint64_t *ret_change);
void channel_sequence_end(struct channel_sequence *open, uint64_t change);

/* ---- lock sequences: pure ---- */

#define LOCK_SEQUENCES     64u /* ms-smb2: 3.3.1.10 "LockSequenceArray" */
#define LOCK_SEQUENCE_NONE 0xFFu

/* LockSequence of a LOCK request: an index from 1 to 64 and a number from 0 to 15. Other indexes
 * disable replay detection. */
struct lock_sequence {
    uint32_t index;
    uint8_t number;
};
struct lock_sequence lock_sequence_read(uint32_t field);
/* Returns whether the lock is a replay of a completed one. Otherwise invalidates the entry until
 * lock_sequence_done(). */
bool lock_sequence_is_repeated(uint8_t entries[LOCK_SEQUENCES], const struct lock_sequence *lock);
void lock_sequence_done(uint8_t entries[LOCK_SEQUENCES], const struct lock_sequence *lock);

#endif
