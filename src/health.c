/* See health.h. */
#include "health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/fetch.h"
#include "running.h"

#define HOST_MAX    256
#define SECONDS_MAX 5
#define HEALTHY     200

static const char *const names[SERVICE_COUNT] = { "blob", "queue", "table" };

/* Where a server on this machine that listens on `host` is reached. */
static const char *reached_at(const char *host)
{
    if (strcmp(host, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(host, "::") == 0 ? "::1" : host;
}

/* NULL: it does what it is for (service/health.c). */
static const char *ask(struct fetcher *fetcher, const char *scheme,
                       const struct listen_options *listen, char *problem, size_t problem_size)
{
    const char *host = reached_at(listen->host);
    char url[HOST_MAX + 32];
    struct fetch_asked asked = { .seconds_max = SECONDS_MAX };
    struct fetch *fetch = NULL;
    const char *why = NULL;

    if (strlen(host) > HOST_MAX)
        return "the host is too long";
    if (listen->port == 0)
        return "it listens at any free port (0), which only its output names";
    snprintf(url, sizeof url,
             strchr(host, ':') ? "%s://[%s]:%u/$lagra/health" : "%s://%s:%u/$lagra/health", scheme,
             host, listen->port);
    asked.url = bytes_from_string(url);
    if (fetch_open(fetcher, &asked, &fetch)) {
        snprintf(problem, problem_size, "%s: %s", url, fetch_problem(fetch));
        why = problem;
    } else if (!bytes_has_prefix(fetch_header(fetch, "server"), bytes_from_string("Lagra/"))) {
        snprintf(problem, problem_size, "%s: somebody else answers there", url);
        why = problem;
    } else if (fetch_status(fetch) != HEALTHY) {
        snprintf(problem, problem_size, "%s: status %d", url, fetch_status(fetch));
        why = problem;
    }
    fetch_close(fetch);
    return why;
}

static int ask_server(const struct options *options)
{
    /* Its operator says where it is; its certificate may be anybody's. */
    struct fetcher *fetcher = fetcher_new(&(struct fetcher_options){ .trusts_all = true });
    int code = EXIT_SUCCESS;
    char problem[2 * HOST_MAX + 64];

    if (!fetcher)
        return EXIT_FAILURE;
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        const char *why = NULL;

        if (options->listen[i].wanted)
            why = ask(fetcher, options->cert_path ? "https" : "http", &options->listen[i], problem,
                      sizeof problem);
        if (why) {
            fprintf(stderr, "lagra: the %s service does not answer: %s\n", names[i], why);
            code = EXIT_FAILURE;
        }
    }
    fetcher_free(fetcher);
    return code;
}

struct servers {
    size_t count;
    int code;
};

static void ask_running(const struct options *options, void *context)
{
    struct servers *servers = context;

    servers->count++;
    if (ask_server(options) != EXIT_SUCCESS)
        servers->code = EXIT_FAILURE;
}

int health_ask(const struct options *options)
{
    struct servers servers = { .code = EXIT_SUCCESS };

    if (!options->asks_running)
        return ask_server(options);
    running_servers(ask_running, &servers);
    if (servers.count > 0)
        return servers.code;
    fprintf(stderr, "lagra: no server runs here\n");
    return EXIT_FAILURE;
}
