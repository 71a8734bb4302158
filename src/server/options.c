/* Options of a server: see options.h. */
#include "server/options.h"

#include <arpa/inet.h>
#include <string.h>

/* Names other than "localhost" may be of any address, whatever they begin with. */
bool host_is_loopback(const char *host)
{
    struct in_addr address;

    if (inet_aton(host, &address) != 0)
        return ntohl(address.s_addr) >> 24 == 127;
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

bool options_are_loopback(const struct options *options)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        if (options->listen[i].wanted && !host_is_loopback(options->listen[i].host))
            return false;
    }
    return !options->smb.wanted || host_is_loopback(options->smb.host);
}
