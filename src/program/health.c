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

static const char *const names[SERVICE_COUNT] = { "blob", "queue", "table", "file" };

/* NULL: it does what it is for (service/health.c). */
static const char *ask(struct fetcher *fetcher, const char *scheme,
                       const struct listen_options *listen, char *problem, size_t problem_size)
{
    const char *host = running_reached_at(listen->host);
    char url[HOST_MAX + 32];
    struct fetch_asked asked = { .seconds_max = SECONDS_MAX };
    struct fetch *fetch = NULL;
    const char *why = NULL;

    if (strlen(host) > HOST_MAX)
        return "the host is too long";
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

/* False: it does not, and stderr says so. */
static bool answers(struct fetcher *fetcher, const struct running_service *service)
{
    char problem[2 * HOST_MAX + 64];
    const char *why = ask(fetcher, service->is_https ? "https" : "http", &service->listen, problem,
                          sizeof problem);

    if (why)
        fprintf(stderr, "lagra: the %s service does not answer: %s\n", names[service->service],
                why);
    return !why;
}

static int ask_named(struct fetcher *fetcher, const struct options *options)
{
    int code = EXIT_SUCCESS;

    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        const struct running_service service = { .service = (enum service_index)i,
                                                 .is_https = options->cert_path != NULL,
                                                 .listen = options->listen[i] };

        if (service.listen.wanted && !answers(fetcher, &service))
            code = EXIT_FAILURE;
    }
    return code;
}

struct asking {
    struct fetcher *fetcher;
    size_t count;
    int code;
};

static void ask_running(const struct running_service *service, void *context)
{
    struct asking *asking = context;

    asking->count++;
    if (!answers(asking->fetcher, service))
        asking->code = EXIT_FAILURE;
}

static int ask_all_running(struct fetcher *fetcher)
{
    struct asking asking = { .fetcher = fetcher, .code = EXIT_SUCCESS };

    running_services(ask_running, &asking);
    if (asking.count > 0)
        return asking.code;
    fprintf(stderr, "lagra: no server runs here\n");
    return EXIT_FAILURE;
}

int health_ask(const struct options *options)
{
    /* Its operator says where it is; its certificate may be anybody's. */
    struct fetcher *fetcher = fetcher_new(&(struct fetcher_options){ .trusts_all = true });
    int code;

    if (!fetcher)
        return EXIT_FAILURE;
    code = options->asks_running ? ask_all_running(fetcher) : ask_named(fetcher, options);
    fetcher_free(fetcher);
    return code;
}
