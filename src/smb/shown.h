/* Inside smb/ only: what SMB shows of a file. shown.c */
#ifndef LAGRA_SMB_SHOWN_H
#define LAGRA_SMB_SHOWN_H

#include "file/handle.h"
#include "smb/wire.h"

struct smb_tree;

/* CreationTime, LastAccessTime, LastWriteTime, ChangeTime */
void smb_put_info_times(struct wire_writer *w, const struct handle_info *info);
/* FileAttributes: FILE_ATTRIBUTE_NORMAL where there is no other. MS-FSCC 2.6 */
uint32_t smb_attributes(const struct handle_info *info);
/* The share's, as VolumeId and serial number. */
uint64_t smb_volume_id(const struct smb_tree *tree);

#endif
