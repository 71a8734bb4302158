/* Shared by QUERY_INFO and SET_INFO. ms-smb2: 2.2.37, 2.2.39 */
#ifndef LAGRA_SMB_INFO_H
#define LAGRA_SMB_INFO_H

/* InfoType */
enum info_type { INFO_FILE = 1, INFO_FILE_SYSTEM = 2, INFO_SECURITY = 3, INFO_QUOTA = 4 };

/* AdditionalInformation of INFO_SECURITY */
#define SECURITY_OWNER 0x01u
#define SECURITY_GROUP 0x02u
#define SECURITY_DACL  0x04u
#define SECURITY_SACL  0x08u
#define SECURITY_LABEL 0x10u

#endif
