/* What SMB fuzzers start from: clients that have every kind of handle, in sets of a given size, and requests that wait. */
#ifndef LAGRA_TESTS_FUZZ_SMB_STATES_H
#define LAGRA_TESTS_FUZZ_SMB_STATES_H

#include "../unit/smb/client.h"

#define STATE_FILES_MAX 16u

struct smb_state {
    struct world *world;
    struct client *own, *other;              /* of one account, both on its share */
    struct open_file files[STATE_FILES_MAX]; /* of `own`, then of `other` */
    unsigned file_count;
    unsigned size;    /* elements of each set */
    unsigned waiting; /* requests that wait */
};

/* Returns a state of this kind, or NULL if there is none:
 *   d  a directory of files with long names        l  a file with byte-range locks
 *   e  a file with a lease, and handles under it    u  durable handles, some of a client that was lost
 *   p  the same with persistent handles             i  IPC$
 *   w  LOCK requests that wait                      b  a create that waits for the break of a lease
 *   x  a file whose delete is pending               n  CHANGE_NOTIFY requests that wait
 *   m  a file with handles */
struct smb_state *smb_state_new(char kind, unsigned size);
/* Ends the clients, and the world. */
void smb_state_free(struct smb_state *state);

/* Receives, and forgets, all that has come for both clients once their machines have nothing to run. */
void smb_state_settle(struct smb_state *state);
/* The body of a LOCK of `count` elements, each of a byte, `first` and on. flags: ms-smb2 2.2.26.1 */
void put_locks(struct wire_writer *w, const struct open_file *file, uint64_t first, unsigned count,
               uint32_t flags);

#endif
