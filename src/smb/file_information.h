/* Internal to smb/: encoding of file information. file_information.c */
#ifndef LAGRA_SMB_FILE_INFORMATION_H
#define LAGRA_SMB_FILE_INFORMATION_H

#include "handles/handle.h"
#include "smb/wire.h"

struct smb_tree;

/* Writes CreationTime, LastAccessTime, LastWriteTime and ChangeTime. */
void smb_put_info_times(struct wire_writer *w, const struct handle_info *info);
/* Returns FileAttributes, FILE_ATTRIBUTE_NORMAL if there are no others. ms-fscc: 2.6 */
uint32_t smb_attributes(const struct handle_info *info);
/* Returns the share's VolumeId, also used as its serial number. */
uint64_t smb_volume_id(const struct smb_tree *tree);

#endif
