/* See supervisor.h. */
#include "program/supervisor.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

void supervisor_notify(const char *state)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = name ? strlen(name) : 0;
    int to;

    if (length < 2 || length >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@'))
        return;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0'; /* an abstract address */
    to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (to < 0 || sendto(to, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
        log_errno("tell the supervisor %s", state);
    if (to >= 0)
        close(to);
}
