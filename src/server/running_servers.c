/* Servers on this machine: see running_servers.h. */
#include "server/running_servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Bits of a lock's position, from the lowest: 0, so that adjacent locks are not merged; port; IPv4
 * address; IPv6 flag (the address is 0, for ::1); HTTPS flag; flag for awaiting a PROXY header;
 * service. */
enum {
    PORT_BIT = 1,
    ADDRESS_BIT = 17,
    IPV6_BIT = 49,
    HTTPS_BIT = 50,
    HEADER_BIT = 51,
    SERVICE_BIT = 52
};
#define PLACES_END ((uint64_t)SERVICE_COUNT << SERVICE_BIT)

static int open_program(void)
{
    return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

const char *running_reached_at(const char *host)
{
    if (strcmp(host, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(host, "::") == 0 ? "::1" : host;
}

/* Returns in *ret_bits the position's bits for the address at which a server that listens on `host`
 * is reached. Returns false if they cannot express it. */
static bool address_bits(const char *host, uint64_t *ret_bits)
{
    struct in_addr address;

    host = strcmp(host, "localhost") == 0 ? "127.0.0.1" : running_reached_at(host);
    if (strcmp(host, "::1") == 0) {
        *ret_bits = UINT64_C(1) << IPV6_BIT;
        return true;
    }
    if (inet_pton(AF_INET, host, &address) != 1)
        return false;
    *ret_bits = (uint64_t)ntohl(address.s_addr) << ADDRESS_BIT;
    return true;
}

bool running_awaits_header(const struct options *options, const char *host)
{
    uint8_t address[ADDRESS_SIZE];

    /* Connections to a loopback address come from 127.0.0.1. */
    host = host_is_loopback(host) && !strchr(host, ':') ? "127.0.0.1" : running_reached_at(host);
    return address_parse(bytes_from_string(host), address) &&
           address_list_has(&options->proxies.introducing, address);
}

bool running_announce(const struct running_service *service)
{
    static int program =
        -1; /* stays open until the process ends; closing it would release its locks */
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
    uint64_t address;

    if (program < 0)
        program = open_program();
    if (program < 0 || !address_bits(service->listen.host, &address))
        return false;
    lock.l_start = (off_t)((uint64_t)service->service << SERVICE_BIT |
                           (uint64_t)service->awaits_header << HEADER_BIT |
                           (uint64_t)service->is_https << HTTPS_BIT | address |
                           (uint64_t)service->listen.port << PORT_BIT);
    return fcntl(program, F_OFD_SETLK, &lock) == 0;
}

static bool read_place(uint64_t place, char host[INET_ADDRSTRLEN],
                       struct running_service *ret_service)
{
    struct in_addr address = { .s_addr = htonl((uint32_t)(place >> ADDRESS_BIT)) };

    if (place >> PORT_BIT << PORT_BIT != place)
        return false;
    if (place >> IPV6_BIT & 1)
        strcpy(host, "::1");
    else
        inet_ntop(AF_INET, &address, host, INET_ADDRSTRLEN);
    *ret_service = (struct running_service){
        .service = (enum service_index)(place >> SERVICE_BIT),
        .is_https = place >> HTTPS_BIT & 1,
        .awaits_header = place >> HEADER_BIT & 1,
        .listen = { .host = host, .port = (uint16_t)(place >> PORT_BIT), .wanted = true },
    };
    return true;
}

/* Finds the locks in a range. F_OFD_GETLK returns any lock of a range, not the first. */
static void find(int program, uint64_t from, uint64_t end,
                 void (*found)(const struct running_service *service, void *context), void *context)
{
    while (from < end) {
        struct flock lock = { .l_type = F_WRLCK,
                              .l_whence = SEEK_SET,
                              .l_start = (off_t)from,
                              .l_len = (off_t)(end - from) };
        struct running_service service;
        char host[INET_ADDRSTRLEN];
        uint64_t place;

        if (fcntl(program, F_OFD_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
            return;
        place = (uint64_t)lock.l_start;
        if (place > from)
            find(program, from, place, found, context);
        if (lock.l_len == 1 && read_place(place, host, &service))
            found(&service, context);
        from = lock.l_len > 0 ? place + (uint64_t)lock.l_len : end;
    }
}

void running_services(void (*found)(const struct running_service *service, void *context),
                      void *context)
{
    int program = open_program();

    if (program < 0)
        return;
    find(program, 0, PLACES_END, found, context);
    close(program);
}
