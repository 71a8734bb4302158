/* Versions of the protocol between front ends: the envelope (envelope.h) and the requests that a
 * front end sends on its own behalf (peer.h). The record of an owner contains the versions that the
 * owner understands. A front end sends the newest version that both understand, so forwarding
 * continues during a rolling upgrade. Nothing is forwarded between front ends without a common
 * version. decision: 1170 */
#ifndef LAGRA_CLUSTER_PROTOCOL_H
#define LAGRA_CLUSTER_PROTOCOL_H

/* Versions that this program understands. Version 5 added the renewal to requests of a front end
 * itself; version 6 lists of pieces as bodies of responses (piece_list.h). To change the protocol, raise PROTOCOL_NEWEST, and continue to write and read all
 * versions from PROTOCOL_OLDEST. */
#define PROTOCOL_OLDEST 5u
#define PROTOCOL_NEWEST 6u
#define PROTOCOL_PIECES 6u
/* Owners whose records do not contain versions understand only this one. */
#define PROTOCOL_UNSAID 4u
#define PROTOCOL_MAX    255u

struct protocol_range {
    unsigned oldest, newest;
};

/* Returns the versions that this program understands. */
struct protocol_range protocol_own(void);
/* Returns the newest version in both ranges, or 0. Pure. */
unsigned protocol_common(struct protocol_range one, struct protocol_range other);

#endif
