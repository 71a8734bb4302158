/* Reads requests of clients for DFS referrals and writes the responses: FSCTL_DFS_GET_REFERRALS and
 * its extended form. Pure. ms-dfsc: 2.2.2, 2.2.3, 2.2.4, 2.2.5.3 */
#ifndef LAGRA_SMB_PROTOCOL_DFS_REFERRAL_H
#define LAGRA_SMB_PROTOCOL_DFS_REFERRAL_H

#include "smb_protocol/wire.h"

/* How long clients use a referral. The owner of a cell is replaced within seconds. */
#define DFS_REFERRAL_TTL_S 10u
/* Version of the referrals. Every client of SMB2 accepts it. */
#define DFS_REFERRAL_LEVEL 3u

#define DFS_HOST_MAX       253u
/* Limits "\server\share", so that all offsets of a response fit 16 bits. */
#define DFS_PATH_MAX       1024u

struct dfs_referral_request {
    uint16_t level;    /* MaxReferralLevel */
    struct bytes path; /* "\server\share" of the requested path, UTF-8 */
    struct bytes share;
};

/* Reads a request. Allocates in the arena.
 * Returns  STATUS_SUCCESS, STATUS_INVALID_PARAMETER if it is malformed, STATUS_NOT_FOUND if
 *          its path names no share (requests to a domain controller do not) or its level is below
 *          DFS_REFERRAL_LEVEL. */
enum nt_status dfs_referral_read(struct arena *arena, struct bytes input, bool is_extended,
                                 struct dfs_referral_request *ret_request);
/* Writes a response that refers the client to the share of this name at another host, a name or
 * address of at most DFS_HOST_MAX bytes. Allocates in the arena. */
struct bytes dfs_referral_write(struct arena *arena, const struct dfs_referral_request *request,
                                struct bytes host);

#endif
