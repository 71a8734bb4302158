/* The load generator of SMB: clients that each have one request on its way, sealed by AES-128-GCM. One thread, so that
 * it costs little beside the server that it shares the machine with. Prints one line of JSON. */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "histogram.h"
#include "smb_client.h"

struct client {
    struct smb_client *smb;
    struct smb_file file;
    unsigned step; /* of a work of several requests */
    uint64_t began_us;
    uint64_t random;
    bool is_busy;
};

struct load {
    struct smb_login login;
    const struct work *work;
    const char *name; /* of files: it is what they begin with */
    uint32_t size;
    uint64_t file_size;
    unsigned connections;
    double seconds;
    uint64_t count; /* end after so many; 0: after the time */
    struct client *clients;
    struct bytes bytes;
    struct histogram times;
    uint64_t started, answered, failed, end_us;
};

/* Sends the next request; false: the unit of work is done. reply: what the one before was answered, NULL: none */
typedef bool next_fn(struct load *load, struct client *client, struct wire_reader *reply);
struct work {
    const char *name;
    next_fn *next;
    bool has_file; /* each client has a file of its own open */
};

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* ---- works ---- */

/* xorshift64: the same places for each server. */
static uint64_t place(const struct load *load, struct client *client)
{
    client->random ^= client->random << 13;
    client->random ^= client->random >> 7;
    client->random ^= client->random << 17;
    return client->random % (load->file_size / load->size) * load->size;
}

static bool next_read(struct load *load, struct client *client, struct wire_reader *reply)
{
    if (reply)
        return false;
    smb_client_read(client->smb, &client->file, place(load, client), load->size);
    return true;
}

static bool next_write(struct load *load, struct client *client, struct wire_reader *reply)
{
    if (reply)
        return false;
    smb_client_write(client->smb, &client->file, place(load, client), load->bytes);
    return true;
}

/* Makes a file, writes it, closes it. */
static bool next_create(struct load *load, struct client *client, struct wire_reader *reply)
{
    char name[128];

    if (!reply)
        client->step = 0;
    switch (client->step++) {
    case 0:
        snprintf(name, sizeof name, "%s-%06" PRIu64, load->name, load->started);
        smb_client_create(client->smb, name);
        return true;
    case 1:
        client->file = smb_client_created(reply);
        smb_client_write(client->smb, &client->file, 0, load->bytes);
        return true;
    case 2:
        smb_client_close_file(client->smb, &client->file);
        return true;
    default:
        return false;
    }
}

/* Writes the file whole, from its begin on. */
static bool next_fill(struct load *load, struct client *client, struct wire_reader *reply)
{
    if (!reply)
        client->step = 0;
    if (client->step * (uint64_t)load->size >= load->file_size)
        return false;
    smb_client_write(client->smb, &client->file, client->step++ * (uint64_t)load->size,
                     load->bytes);
    return true;
}

static const struct work works[] = {
    { "fill", next_fill, true },
    { "read", next_read, true },
    { "write", next_write, true },
    { "create", next_create, false },
};

/* ---- the run ---- */

static void begin_unit(struct load *load, struct client *client)
{
    bool is_over = load->count > 0 ? load->started >= load->count : now_us() >= load->end_us;

    client->is_busy = !is_over;
    if (is_over)
        return;
    client->began_us = now_us();
    load->work->next(load, client, NULL);
    load->started++;
    smb_client_send(client->smb);
}

static void take_answer(struct load *load, struct client *client)
{
    struct wire_reader body;
    uint32_t status;

    if (!smb_client_receive(client->smb, &status, &body))
        return;
    if (status == 0 && load->work->next(load, client, &body)) {
        smb_client_send(client->smb);
        return;
    }
    histogram_add(&load->times, now_us() - client->began_us);
    load->answered++;
    if (status != 0)
        load->failed++;
    begin_unit(load, client);
}

static void open_file(const struct load *load, struct client *client, unsigned number)
{
    char name[128];
    struct wire_reader body;

    snprintf(name, sizeof name, "%s-%u", load->name, number);
    smb_client_create(client->smb, name);
    body = smb_client_ask(client->smb);
    client->file = smb_client_created(&body);
}

static void run(struct load *load)
{
    struct pollfd *sockets = xcalloc(load->connections, sizeof *sockets);
    unsigned busy = load->connections;
    uint64_t start;

    for (unsigned i = 0; i < load->connections; i++) {
        struct client *client = &load->clients[i];

        client->smb = smb_client_open(&load->login, i);
        client->random = UINT64_C(0x9E3779B97F4A7C15) * (i + 1);
        if (load->work->has_file)
            open_file(load, client, i);
        sockets[i] = (struct pollfd){ .fd = smb_client_fd(client->smb), .events = POLLIN };
    }
    start = now_us();
    load->end_us = start + (uint64_t)(load->seconds * 1e6);
    for (unsigned i = 0; i < load->connections; i++)
        begin_unit(load, &load->clients[i]);
    while (busy > 0) {
        poll(sockets, load->connections, -1);
        busy = 0;
        for (unsigned i = 0; i < load->connections; i++) {
            if (load->clients[i].is_busy && sockets[i].revents)
                take_answer(load, &load->clients[i]);
            busy += load->clients[i].is_busy;
        }
    }
    load->end_us = now_us() - start;
    for (unsigned i = 0; i < load->connections; i++)
        smb_client_close(load->clients[i].smb);
    free(sockets);
}

static void print_result(const struct load *load)
{
    double seconds = (double)load->end_us / 1e6;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("{\"answered\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"seconds\":%.3f,", load->answered,
           load->failed, seconds);
    printf("\"per_second\":%.1f,\"p50_us\":%" PRIu64 ",\"p99_us\":%" PRIu64 ",",
           (double)load->answered / seconds, histogram_quantile(&load->times, 0.5),
           histogram_quantile(&load->times, 0.99));
    printf("\"own_cpu_s\":%.2f}\n",
           (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
               (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6);
}

static const struct option long_options[] = {
    { "port", required_argument, NULL, 'p' },        { "user", required_argument, NULL, 'u' },
    { "password", required_argument, NULL, 'k' },    { "share", required_argument, NULL, 'c' },
    { "work", required_argument, NULL, 'w' },        { "size", required_argument, NULL, 's' },
    { "file-size", required_argument, NULL, 'f' },   { "name", required_argument, NULL, 'n' },
    { "connections", required_argument, NULL, 'C' }, { "seconds", required_argument, NULL, 't' },
    { "count", required_argument, NULL, 'N' },       { NULL, 0, NULL, 0 },
};

/* Returns false on an option that is unknown or makes no sense. */
static bool take_option(struct load *load, int option, const char *value)
{
    switch (option) {
    case 'p':
        load->login.port = value;
        return true;
    case 'u':
        load->login.user = value;
        return true;
    case 'k':
        load->login.password = value;
        return true;
    case 'c':
        load->login.share = value;
        return true;
    case 'w':
        for (size_t i = 0; i < sizeof works / sizeof *works; i++)
            if (strcmp(works[i].name, value) == 0)
                load->work = &works[i];
        return load->work != NULL;
    case 's':
        load->size = (uint32_t)strtoul(value, NULL, 10);
        return load->size > 0;
    case 'f':
        load->file_size = strtoull(value, NULL, 10);
        return true;
    case 'n':
        load->name = value;
        return true;
    case 'C':
        load->connections = (unsigned)strtoul(value, NULL, 10);
        return load->connections > 0;
    case 't':
        load->seconds = strtod(value, NULL);
        return true;
    case 'N':
        load->count = strtoull(value, NULL, 10);
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    struct load load = {
        .login = { .host = "127.0.0.1", .port = "1445", .share = "bench" },
        .name = "load",
        .size = 4096,
        .file_size = 16u << 20,
        .connections = 1,
        .seconds = 5,
    };
    char *bytes;
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!take_option(&load, option, optarg ? optarg : ""))
            return 2;
    if (!load.work || !load.login.user || !load.login.password || load.file_size < load.size)
        return 2;
    bytes = xmalloc(load.size);
    for (size_t i = 0; i < load.size; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    load.bytes = bytes_of(bytes, load.size);
    load.clients = xcalloc(load.connections, sizeof *load.clients);
    run(&load);
    print_result(&load);
    return load.failed == 0 ? 0 : 1;
}
