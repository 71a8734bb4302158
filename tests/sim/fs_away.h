/* Handles of SMB whose clients have gone, and how they end when nobody comes back. MS-SMB2 3.3.7.1; decision: 365 */
#ifndef LAGRA_SIM_FS_AWAY_H
#define LAGRA_SIM_FS_AWAY_H

#include "fs_opens.h"

/* How long they are kept at most. */
#define FS_SECOND_NS UINT64_C(1000000000)
#define FS_KEPT_NS   (300 * FS_SECOND_NS)

/* The client of one that persists is away so long that it is soon too late for it. */
bool fs_is_late(void);
/* Those of an earlier process end when their time is over, by the server's clock: nobody closes them, so nothing is
 * deleted with them. Ends those whose time may be over. False: there is none */
bool fs_end_overdue(struct fs_state *state);
/* At a start, of one that persists: has its time ended in an earlier process? */
bool fs_has_ended_before(struct fs_open *open);
/* Ends those of which it is not known whether they have, of the shortest time alone: one process has lasted too long for
 * all of them. False: there is none */
bool fs_end_doubtful(struct fs_state *state);
/* Has the server's own thread committed that it closes a handle which nobody has come back to? It closes it as its
 * client would have. */
bool fs_away_committed(void);
/* Nobody has come back in time, nor will: what is kept is closed. */
void fs_close_away(struct fs_state *state);

#endif
