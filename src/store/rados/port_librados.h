/* A pool of a cluster, through librados: an implementation of port.h. Built with -Drados=true only. */
#ifndef LAGRA_STORE_RADOS_PORT_LIBRADOS_H
#define LAGRA_STORE_RADOS_PORT_LIBRADOS_H

#include "store/rados/port.h"

/* Connects; may wait for the cluster. conf: path of its ceph.conf.
 * *ret_problem: a sentence if the result is false (static). Start-up. */
bool port_open_librados(const char *conf, const char *pool, struct port **ret_port,
                        const char **ret_problem);
/* Waits until nothing is in flight. Not in done(). */
void port_settle_librados(struct port *port);
/* Settles, and disconnects. */
void port_close_librados(struct port *port);

#endif
