/* Listeners of the services: see listeners.h. */
#include "server/listeners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "server/running_servers.h"

struct http_server *service_listener_start(const struct options *options, size_t service,
                                           const struct http_limits *limits,
                                           const struct certificate *certificate,
                                           const struct service_listener *of)
{
    const struct listen_options *listen = &options->listen[service];
    struct http_limits own = *limits;
    struct net_listen where = {
        .host = listen->host,
        .port = listen->port,
        .cert_pem = certificate->chain,
        .key_pem = certificate->key,
        .proxies = &options->proxies,
    };
    const char *problem = "";
    struct http_server *server;

    if (listen->keep_alive_s > 0)
        own.net.idle_s = listen->keep_alive_s;
    server = http_start(&where, &own, of->application, of->tag, &problem);
    if (!server && !listen->is_optional)
        fprintf(stderr, "lagra: the %s service: %s\n", of->name, problem);
    else if (!server && !options->silent)
        printf("Lagra's %s service is not served: %s (--%sPort names another port)\n", of->name,
               problem, of->name);
    return server;
}

void service_listener_announce(const struct options *options, size_t service, uint16_t port,
                               bool is_https, const char *name)
{
    struct running_service found = {
        .service = (enum service_index)service,
        .is_https = is_https,
        .awaits_header = running_awaits_header(options, options->listen[service].host),
        .listen = options->listen[service],
    };

    found.listen.port = port;
    if (!running_announce(&found))
        log_line(LOG_WARN, "`lagra health --running` will not find the %s service", name);
}
