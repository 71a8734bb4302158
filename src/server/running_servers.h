/* Where the servers of this program listen that run beside this process: in its container, or on its
 * machine.
 *
 * A server holds a read lock on one byte of its own program file for each service that it serves; which
 * byte says the service, whether it is HTTPS, whether it awaits a PROXY header, the address and the port. The kernel keeps these locks as
 * long as the process lives, however it ends: so there is no file that could be left behind, and no
 * folder that has to be writable. Any process that may read the program file may lock it: so what is found
 * is only asked for its health. man: fcntl(2) "Open file description locks"; decision: 292 */
#ifndef LAGRA_SERVER_RUNNING_SERVERS_H
#define LAGRA_SERVER_RUNNING_SERVERS_H

#include "server/options.h"

struct running_service {
    enum service_index service;
    bool is_https;
    bool awaits_header;           /* of the PROXY protocol, from this machine too */
    struct listen_options listen; /* an address, as reached from this machine, and a port */
};

/* Returns the address at which this machine reaches a server that listens on `host`: the loopback
 * address where `host` is every address, else `host` itself. */
const char *running_reached_at(const char *host);

/* Whether who asks from this machine is one of --proxyProtocol to a server that listens on `host`. */
bool running_awaits_header(const struct options *options, const char *host);

/* From now on until the process ends others find the service. False: not, for an address that is IPv6
 * and neither :: nor ::1, or for a file system without locks. Start-up thread. */
bool running_announce(const struct running_service *service);

/* Calls `found` for each service of each server that runs the same program file; what is passed is valid
 * during the call. */
void running_services(void (*found)(const struct running_service *service, void *context),
                      void *context);

#endif
