/* `lagra health`: see commands.h. */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fetch/fetch.h"
#include "server/running_servers.h"

#define HOST_MAX    256
#define SECONDS_MAX 5
#define HEALTHY     200
#define REASON_MAX  200
#define PRINTED_MAX ((size_t)4 << 20)

static const char *const names[SERVICE_COUNT] = { "blob", "queue", "table", "file", "dfs" };

/* Reads the first line of the response body, which gives the reason. */
static void read_reason(struct fetch *fetch, char reason[REASON_MAX + 1])
{
    size_t length = 0, count;

    while (length < REASON_MAX &&
           fetch_read(fetch, reason + length, REASON_MAX - length, &count) == FETCH_OK && count > 0)
        length += count;
    reason[length] = '\0';
    reason[strcspn(reason, "\r\n")] = '\0';
}

/* Checks a service (request/health.c). Returns a description of its problem, or NULL if it is
 * healthy. path: URL path of the check */
static const char *ask(struct fetcher *fetcher, const struct running_service *service,
                       const char *path, char *problem, size_t problem_size)
{
    const char *scheme = service->is_https ? "https" : "http";
    const char *host = running_reached_at(service->listen.host);
    char url[HOST_MAX + 32];
    struct fetch_asked is_done = { .seconds_max = SECONDS_MAX,
                                   .introduces = service->awaits_header };
    struct fetch *fetch = NULL;
    const char *why = NULL;
    char reason[REASON_MAX + 1];

    if (strlen(host) > HOST_MAX)
        return "does not respond: the host name is too long";
    snprintf(url, sizeof url, strchr(host, ':') ? "%s://[%s]:%u%s" : "%s://%s:%u%s", scheme, host,
             service->listen.port, path);
    is_done.url = bytes_from_string(url);
    if (fetch_open(fetcher, &is_done, &fetch)) {
        snprintf(problem, problem_size, "does not respond: %s: %s", url, fetch_problem(fetch));
        why = problem;
    } else if (!bytes_has_prefix(fetch_header(fetch, "server"), bytes_from_string("Lagra/"))) {
        snprintf(problem, problem_size,
                 "does not respond: %s: the response is not from a Lagra server", url);
        why = problem;
    } else if (fetch_status(fetch) != HEALTHY) {
        read_reason(fetch, reason);
        snprintf(problem, problem_size, "is not ready: %s: %d, %s", url, fetch_status(fetch),
                 reason);
        why = problem;
    }
    fetch_close(fetch);
    return why;
}

struct asking {
    struct fetcher *fetcher;
    const char *path;
    struct json_writer *writer; /* for JSON output, or NULL */
    const char *well;           /* name of the JSON member with the result: "ready" or "live" */
    size_t count;
    int code;
};

static void write_service(const struct asking *asking, const char *name, const char *why)
{
    struct json_writer *writer = asking->writer;

    json_write_begin(writer, '{');
    json_write_member(writer, "service", bytes_from_string(name));
    json_write_bool(writer, asking->well, !why);
    if (why)
        json_write_member(writer, "problem", bytes_from_string(why));
    json_write_end(writer, '}');
}

/* Checks a service, and prints or lists its problem. */
static void ask_service(const struct running_service *service, void *context)
{
    struct asking *asking = context;
    char problem[2 * HOST_MAX + REASON_MAX];
    const char *why = ask(asking->fetcher, service, asking->path, problem, sizeof problem);

    asking->count++;
    if (why)
        asking->code = EXIT_FAILURE;
    if (asking->writer)
        write_service(asking, names[service->service], why);
    else if (why)
        fprintf(stderr, "lagra: the %s service %s\n", names[service->service], why);
}

static void ask_named(struct asking *asking, const struct options *options)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        const struct running_service service = { .service = (enum service_index)i,
                                                 .is_https = options->cert_path != NULL,
                                                 .awaits_header = running_awaits_header(
                                                     options, options->listen[i].host),
                                                 .listen = options->listen[i] };

        if (service.listen.wanted)
            ask_service(&service, asking);
    }
}

static void ask_all(struct asking *asking, const struct command_line *line)
{
    if (line->asks_running)
        running_services(ask_service, asking);
    else
        ask_named(asking, &line->options);
}

/* Prints {"ready":true,"services":[{"service":"blob","ready":true},..]} */
static void print_all(struct asking *asking, const struct command_line *line)
{
    struct arena *arena = arena_new(PRINTED_MAX);
    struct text list;
    struct json_writer writer = { .to = &list };

    text_init(&list, arena, 1024);
    asking->writer = &writer;
    json_write_begin(&writer, '[');
    ask_all(asking, line);
    json_write_end(&writer, ']');
    printf("{\"%s\":%s,\"services\":%.*s}\n", asking->well,
           asking->count > 0 && asking->code == EXIT_SUCCESS ? "true" : "false",
           BYTES_ARG(text_bytes(&list)));
    arena_free(arena);
}

int health_run(const struct command_line *line)
{
    /* The options specify which server to check, so any certificate is accepted. */
    struct asking asking = {
        .fetcher = fetcher_new(&(struct fetcher_options){ .trusts_all = true }),
        .path = line->asks_live ? "/-/live" : "/-/ready",
        .well = line->asks_live ? "live" : "ready",
        .code = EXIT_SUCCESS,
    };

    if (!asking.fetcher)
        return EXIT_FAILURE;
    if (line->json)
        print_all(&asking, line);
    else
        ask_all(&asking, line);
    fetcher_free(asking.fetcher);
    if (asking.count > 0)
        return asking.code;
    if (!line->json)
        fprintf(stderr, "lagra: no server is running on this machine\n");
    return EXIT_FAILURE;
}
