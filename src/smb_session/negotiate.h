/* Negotiation: constants and functions used by other files. */
#ifndef LAGRA_SMB_SESSION_NEGOTIATE_H
#define LAGRA_SMB_SESSION_NEGOTIATE_H

#include "smb_session/message.h"

/* SecurityMode. ms-smb2: 2.2.3 */
#define SMB_SIGNING_ENABLED        0x0001u
#define SMB_SIGNING_REQUIRED       0x0002u
/* Capabilities. ms-smb2: 2.2.3, 2.2.4 */
#define SMB_CAP_DFS                0x00000001u
#define SMB_CAP_LEASING            0x00000002u
#define SMB_CAP_LARGE_MTU          0x00000004u
#define SMB_CAP_MULTI_CHANNEL      0x00000008u
#define SMB_CAP_PERSISTENT_HANDLES 0x00000010u
#define SMB_CAP_ENCRYPTION         0x00000040u

/* Returns the dialect to use, or SMB_NO_DIALECT if none is supported. dialects: as received, two
 * bytes each */
enum smb_dialect negotiate_dialect(struct bytes dialects);

/* If the message is an SMB1 negotiation, adds a request that answers it. Returns false if it is
 * not, or if a dialect has already been negotiated. ms-smb2: 3.3.5.3 */
bool negotiate_smb1(struct smb_message *message, struct bytes bytes);

#endif
