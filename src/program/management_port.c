/* The management port: see management_port.h. */
#include "program/management_port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program/credentials.h"

/* Connections, and those that are being refused. */
#define DESCRIPTORS    (96u + MANAGEMENT_FILES_MAX)
#define GRACE_S        1

#define USAGE_EVERY_MS (15u * 60000)

unsigned management_descriptors(const struct options *options)
{
    return options->management.wanted ? DESCRIPTORS : 0;
}

/* The first line of the file. NULL after saying why not. */
static char *read_token(const char *path)
{
    char *token = read_small_line(path);

    if (!token)
        return NULL;
    if (strlen(token) >= MANAGEMENT_TOKEN_LEAST)
        return token;
    fprintf(stderr, "lagra: %s: a token has at least %u characters\n", path,
            MANAGEMENT_TOKEN_LEAST);
    free_secret(token);
    return NULL;
}

/* False after saying why not: beyond this machine a token is required. */
static bool open_token(const struct options *options, struct bytes *ret_token)
{
    *ret_token = bytes_from_string(NULL);
    if (options->management_token_path) {
        *ret_token = bytes_from_string(read_token(options->management_token_path));
        return ret_token->ptr != NULL;
    }
    if (host_is_loopback(options->management.host))
        return true;
    fprintf(stderr, "lagra: on an address other than loopback, --managementPort takes "
                    "--managementToken\n");
    return false;
}

struct usage_survey *usage_start(const struct options *options,
                                 const struct endpoint_set *endpoints, struct store *store,
                                 struct accounts *accounts)
{
    struct survey_options wanted = { endpoints, store, accounts, options->usage_every_ms };
    struct usage_survey *survey;

    if (wanted.every_ms == 0 && (options->management.wanted || options->account_capacity_mib > 0))
        wanted.every_ms = USAGE_EVERY_MS;
    survey = usage_survey_start(&wanted);
    if (!survey)
        fprintf(stderr, "lagra: cannot start a thread to count what accounts keep\n");
    return survey;
}

/* False: it is not served, and why was said where it was wanted. decision: 552 */
static bool wants_console(const struct options *options, const struct certificate *certificate)
{
    const char *why = NULL;

    if (!options->console)
        return false;
    if (!console_is_built())
        why = "this build has none: it was made without npm";
    else if (!certificate->chain && !host_is_loopback(options->management.host))
        why = "on an address other than loopback it takes --cert";
    if (why && !options->silent)
        printf("Lagra's console is not served: %s\n", why);
    return !why;
}

static void print_places(const struct options *options, const struct management_port *port,
                         bool is_secure)
{
    const char *scheme = is_secure ? "https" : "http";
    const char *host = options->management.host;
    unsigned number = http_port(port->server);

    if (options->silent)
        return;
    printf("Lagra's metrics are at %s://%s:%u/metrics\n", scheme, host, number);
    if (port->management.console)
        printf("Lagra's console is at %s://%s:%u/console/ (lagra console prints a link)\n", scheme,
               host, number);
}

bool management_start(const struct options *options, const struct certificate *certificate,
                      const struct management *of, struct management_port *ret_port)
{
    struct http_limits limits = management_limits();
    struct net_listen where = {
        .host = options->management.host,
        .port = options->management.port,
        .cert_pem = certificate->chain,
        .key_pem = certificate->key,
    };
    const char *problem = "";

    if (!options->management.wanted)
        return true;
    ret_port->management = *of;
    ret_port->management.started_s = (uint64_t)time(NULL);
    ret_port->management.has_smb = options->smb.wanted;
    ret_port->management.names = bytes_from_string(options->management_names);
    ret_port->management.saved = &ret_port->saved;
    ret_port->saved.store = of->store;
    if (options->testing)
        ret_port->management.pool = decide_pool_new(1, (struct pool_shares){ 0 });
    if (options->testing && !ret_port->management.pool) {
        fprintf(stderr, "lagra: cannot start a thread for snapshots\n");
        return false;
    }
    if (!open_token(options, &ret_port->management.token))
        return false;
    if (wants_console(options, certificate))
        ret_port->management.console = console_new(&(struct console_options){
            of->endpoints, of->servers, of->store, of->admin->accounts, ret_port->management.names,
            options->testing && !ret_port->management.token.ptr });
    ret_port->server =
        http_start(&where, &limits, &management_application, &ret_port->management, &problem);
    if (!ret_port->server) {
        fprintf(stderr, "lagra: the management port cannot listen on %s port %u: %s\n", where.host,
                where.port, problem);
        return false;
    }
    if (options->testing)
        fprintf(stderr, "lagra: --testing: whoever asks at the management port makes requests "
                        "fail, and moves the "
                        "clock\n");
    print_places(options, ret_port, where.cert_pem != NULL);
    return true;
}

void management_stop(struct management_port *port)
{
    char *token = (char *)port->management.token.ptr;

    if (port->server)
        http_stop(port->server, GRACE_S);
    if (port->management.pool)
        decide_pool_free(port->management.pool);
    saved_states_release(&port->saved);
    free_secret(token);
}

void management_release(struct management_port *port)
{
    console_free(port->management.console);
    *port = (struct management_port){ .server = NULL };
}
