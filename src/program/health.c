/* lagra health: see commands.h. */
#include "program/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/fetch.h"
#include "program/running.h"

#define HOST_MAX    256
#define SECONDS_MAX 5
#define HEALTHY     200
#define REASON_MAX  200

static const char *const names[SERVICE_COUNT] = { "blob", "queue", "table", "file" };

/* The first line of the answer's body. */
static void read_reason(struct fetch *fetch, char reason[REASON_MAX + 1])
{
    size_t length = 0, count;

    while (length < REASON_MAX &&
           fetch_read(fetch, reason + length, REASON_MAX - length, &count) == FETCH_OK && count > 0)
        length += count;
    reason[length] = '\0';
    reason[strcspn(reason, "\r\n")] = '\0';
}

/* NULL: it does what it is for (service/health.c). path: of what is asked */
static const char *ask(struct fetcher *fetcher, const struct running_service *service,
                       const char *path, char *problem, size_t problem_size)
{
    const char *scheme = service->is_https ? "https" : "http";
    const char *host = running_reached_at(service->listen.host);
    char url[HOST_MAX + 32];
    struct fetch_asked asked = { .seconds_max = SECONDS_MAX, .introduces = service->awaits_header };
    struct fetch *fetch = NULL;
    const char *why = NULL;
    char reason[REASON_MAX + 1];

    if (strlen(host) > HOST_MAX)
        return "does not answer: the host is too long";
    snprintf(url, sizeof url, strchr(host, ':') ? "%s://[%s]:%u%s" : "%s://%s:%u%s", scheme, host,
             service->listen.port, path);
    asked.url = bytes_from_string(url);
    if (fetch_open(fetcher, &asked, &fetch)) {
        snprintf(problem, problem_size, "does not answer: %s: %s", url, fetch_problem(fetch));
        why = problem;
    } else if (!bytes_has_prefix(fetch_header(fetch, "server"), bytes_from_string("Lagra/"))) {
        snprintf(problem, problem_size, "does not answer: %s: somebody else does", url);
        why = problem;
    } else if (fetch_status(fetch) != HEALTHY) {
        read_reason(fetch, reason);
        snprintf(problem, problem_size, "is not well: %s: %d, %s", url, fetch_status(fetch),
                 reason);
        why = problem;
    }
    fetch_close(fetch);
    return why;
}

struct asking {
    struct fetcher *fetcher;
    const char *path;
    size_t count;
    int code;
};

/* What is wrong with it is said on stderr. */
static void ask_service(const struct running_service *service, void *context)
{
    struct asking *asking = context;
    char problem[2 * HOST_MAX + REASON_MAX];
    const char *why = ask(asking->fetcher, service, asking->path, problem, sizeof problem);

    asking->count++;
    if (!why)
        return;
    fprintf(stderr, "lagra: the %s service %s\n", names[service->service], why);
    asking->code = EXIT_FAILURE;
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

int health_ask(const struct options *options)
{
    /* Its operator says where it is; its certificate may be anybody's. */
    struct asking asking = {
        .fetcher = fetcher_new(&(struct fetcher_options){ .trusts_all = true }),
        .path = options->asks_live ? "/-/live" : "/-/ready",
        .code = EXIT_SUCCESS,
    };

    if (!asking.fetcher)
        return EXIT_FAILURE;
    if (options->asks_running)
        running_services(ask_service, &asking);
    else
        ask_named(&asking, options);
    fetcher_free(asking.fetcher);
    if (asking.count > 0)
        return asking.code;
    fprintf(stderr, "lagra: no server runs here\n");
    return EXIT_FAILURE;
}
