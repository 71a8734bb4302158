/* SMB over direct TCP, without NetBIOS sessions: the protocol that net/ serves on sockets, with a
 * state machine per connection (connection.h). ms-smb2: 2.1 */
#ifndef LAGRA_SMB_SERVER_H
#define LAGRA_SMB_SERVER_H

#include "net/net.h"

/* For net_start(). context: a struct smb_service */
extern const struct net_protocol smb_protocol;
/* Timeouts for clients that keep files open: a connection may be idle for a day as long as TCP
 * keepalive succeeds; logon must complete within 30 s. */
extern const struct net_limits smb_limits_default;

#endif
