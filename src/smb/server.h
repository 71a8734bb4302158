/* SMB connections on sockets: net/ serves them, by this protocol, each with a machine of its own
 * (connection.h). Direct TCP alone, without NetBIOS sessions. ms-smb2: 2.1 */
#ifndef LAGRA_SMB_SERVER_H
#define LAGRA_SMB_SERVER_H

#include "net/net.h"

/* For net_start(); context: a struct smb_service */
extern const struct net_protocol smb_protocol;
/* Deadlines as they suit clients that keep files open: after log-on a connection may be idle for a day, if its machine
 * is there (keepalive); before log-on it has a minute. */
extern const struct net_limits smb_limits_default;

#endif
