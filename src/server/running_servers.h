/* Finds servers of this program on the same machine or in the same container.
 *
 * For each service that it serves, a server holds a read lock on one byte of its own program file;
 * the position encodes the service, HTTPS, whether it awaits a PROXY header, the address and the
 * port. The kernel releases these locks when the process ends, however it ends, so no stale file
 * can remain and no directory needs to be writable. Any process that can read the program file can
 * lock it, so the found addresses are used only for health checks. man: fcntl(2) "Open file
 * description locks"; decision: 292 */
#ifndef LAGRA_SERVER_RUNNING_SERVERS_H
#define LAGRA_SERVER_RUNNING_SERVERS_H

#include "server/options.h"

struct running_service {
    enum service_index service;
    bool is_https;
    bool awaits_header;           /* a PROXY header, even from this machine */
    struct listen_options listen; /* address as reached from this machine, and port */
};

/* Returns the address at which this machine reaches a server that listens on `host`: the loopback
 * address where `host` is every address, else `host` itself. */
const char *running_reached_at(const char *host);

/* Returns true if connections from this machine to a server that listens on `host` must start with
 * a PROXY header (--proxyProtocol). */
bool running_awaits_header(const struct options *options, const char *host);

/* Announces the service to running_services() of other processes until this one ends. Returns false
 * for IPv6 addresses other than :: and ::1, and if the file system has no locks. Start-up
 * thread. */
bool running_announce(const struct running_service *service);

/* Calls `found` for each service of each server that runs the same program file. The service is
 * valid during the call only. */
void running_services(void (*found)(const struct running_service *service, void *context),
                      void *context);

#endif
