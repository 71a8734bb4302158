/* Internal to smb/: constants of QUERY_INFO and SET_INFO, and the encoding of file information that
 * several commands share. file_information.c. ms-smb2: 2.2.37, 2.2.39 */
#ifndef LAGRA_SMB_FILE_INFORMATION_H
#define LAGRA_SMB_FILE_INFORMATION_H

#include "handles/handle.h"
#include "smb_protocol/wire.h"

struct smb_tree;

/* InfoType */
enum info_type { INFO_FILE = 1, INFO_FILE_SYSTEM = 2, INFO_SECURITY = 3, INFO_QUOTA = 4 };

/* AdditionalInformation of INFO_SECURITY */
#define SECURITY_OWNER 0x01u
#define SECURITY_GROUP 0x02u
#define SECURITY_DACL  0x04u
#define SECURITY_SACL  0x08u
#define SECURITY_LABEL 0x10u

/* Writes CreationTime, LastAccessTime, LastWriteTime and ChangeTime. */
void smb_put_info_times(struct wire_writer *w, const struct handle_info *info);
/* Returns FileAttributes, FILE_ATTRIBUTE_NORMAL if there are no others. ms-fscc: 2.6 */
uint32_t smb_attributes(const struct handle_info *info);
/* Returns the share's VolumeId, also used as its serial number. */
uint64_t smb_volume_id(const struct smb_tree *tree);

#endif
