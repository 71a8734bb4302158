/* IOCTL: supported FSCTLs, implemented in ioctl.c, copy_chunk.c and dfs_referrals.c. ms-smb2:
 * 3.3.5.15 */
#ifndef LAGRA_SMB_IOCTL_H
#define LAGRA_SMB_IOCTL_H

#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"

#define FSCTL_DFS_GET_REFERRALS    0x00060194u
#define FSCTL_DFS_GET_REFERRALS_EX 0x000601B0u

struct smb_control;

struct ioctl {
    const struct smb_control *control; /* NULL if not supported */
    uint32_t code;
    uint64_t persistent, volatile_id; /* FileId as received */
    struct bytes input;
    uint32_t output_max;
    struct bytes output;
    void *parameters; /* parameters of the FSCTL */
};

/* A supported FSCTL; the callbacks are those of struct smb_row. */
struct smb_control {
    uint32_t code;
    const char *name;
    enum smb_step (*begin)(struct smb_request *request, struct ioctl *ioctl);
    enum smb_step (*decided)(struct smb_request *request, struct ioctl *ioctl);
    enum smb_step (*go_on)(struct smb_request *request, struct ioctl *ioctl);
    void (*load)(struct ioctl *ioctl);
    void (*over)(struct ioctl *ioctl);
};

/* copy_chunk.c: FSCTL_SRV_REQUEST_RESUME_KEY, FSCTL_SRV_COPYCHUNK and _WRITE */
enum smb_step resume_key_begin(struct smb_request *request, struct ioctl *ioctl);
enum smb_step copy_chunk_begin(struct smb_request *request, struct ioctl *ioctl);
enum smb_step copy_chunk_decided(struct smb_request *request, struct ioctl *ioctl);
enum smb_step copy_chunk_go_on(struct smb_request *request, struct ioctl *ioctl);
void copy_chunk_load(struct ioctl *ioctl);
void copy_chunk_over(struct ioctl *ioctl);

/* dfs_referrals.c */
enum smb_step dfs_referrals_begin(struct smb_request *request, struct ioctl *ioctl);
void dfs_referrals_load(struct ioctl *ioctl);
enum smb_step dfs_referrals_go_on(struct smb_request *request, struct ioctl *ioctl);

#endif
