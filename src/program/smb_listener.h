/* The SMB endpoint as the program starts and stops it. Main thread. */
#ifndef LAGRA_PROGRAM_SMB_LISTENER_H
#define LAGRA_PROGRAM_SMB_LISTENER_H

#include "program/options.h"
#include "smb/connection.h"

struct net_limits;
struct net_server;

struct smb_listener {
    struct smb_service *service;
    struct net_server *server; /* NULL: not served */
};

/* tenure  by which packets are sent; NULL: none is needed
 * limits  those of the other services: workers and connections are as theirs
 * returns false, after saying why on stderr; smb_listener_stop() is due all the same */
bool smb_listener_start(const struct options *options, const struct net_limits *limits,
                        struct store *store, const struct accounts *accounts,
                        struct decide_pool *pool, const struct tenure *tenure,
                        struct smb_listener *ret_listener);
/* Before what it was started with is given back. */
void smb_listener_stop(struct smb_listener *listener, unsigned grace_s);

#endif
