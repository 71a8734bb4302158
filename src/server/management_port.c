/* Management port: see management_port.h. */
#include "server/management_port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/certificate.h"
#include "server/credentials.h"

/* Established connections, and those being refused. */
#define DESCRIPTORS    (180u + MANAGEMENT_FILES_MAX)
#define GRACE_S        1
/* Host name, scheme, port and path. */
#define URL_SIZE       320

#define USAGE_EVERY_MS (15u * 60000)

unsigned management_descriptors(const struct options *options)
{
    return options->management.wanted ? DESCRIPTORS : 0;
}

/* Reads the token from the first line of the file. Returns NULL after printing why it cannot. */
static char *read_token(const char *path)
{
    char *token = read_small_line(path);

    if (!token)
        return NULL;
    if (strlen(token) >= MANAGEMENT_TOKEN_LEAST)
        return token;
    fprintf(stderr, "lagra: %s: a token needs at least %u characters\n", path,
            MANAGEMENT_TOKEN_LEAST);
    free_secret(token);
    return NULL;
}

/* Reads the token, which is required on addresses other than loopback. Returns false after printing
 * why it cannot. */
static bool open_token(const struct options *options, struct bytes *ret_token)
{
    *ret_token = bytes_from_string(NULL);
    if (options->management_token_path) {
        *ret_token = bytes_from_string(read_token(options->management_token_path));
        return ret_token->ptr != NULL;
    }
    if (host_is_loopback(options->management.host))
        return true;
    fprintf(stderr, "lagra: on addresses other than loopback, --managementPort requires "
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
        fprintf(stderr, "lagra: cannot start a thread to measure usage\n");
    return survey;
}

/* Returns true if the console is to be served; prints why not if the options ask for it. decision:
 * 552 */
static bool wants_console(const struct options *options, const struct certificate *certificate)
{
    const char *why = NULL;

    if (options->console == CONSOLE_OFF)
        return false;
    if (!console_is_built())
        why = "this build has none";
    else if (!certificate->chain && !host_is_loopback(options->management.host))
        why = "on an address other than loopback it takes --cert";
    if (why && !options->silent)
        printf("Lagra's console is not served: %s\n", why);
    return !why;
}

/* Prints how an operator signs in. article: of "link" */
static void print_way_in(const struct options *options, const char *article)
{
    if (options->in_memory)
        printf("sign in with an account's name and key");
    else if (strcmp(options->location, ".") == 0)
        printf("lagra console prints %s", article);
    else
        printf("lagra console --location %s prints %s", options->location, article);
}

static void print_console(const struct options *options, struct console *console, const char *url)
{
    char secret[CONSOLE_LINK_SIZE];

    if (options->console == CONSOLE_LINK) {
        console_make_link(console, secret);
        printf("Lagra's console: %s/console/#link=%s\n"
               "  (valid for one sign-in within five minutes; ",
               url, secret);
        print_way_in(options, "another one");
    } else {
        printf("Lagra's console is at %s/console/ (", url);
        print_way_in(options, "a link");
    }
    printf(")\n");
}

void management_print(const struct options *options, const struct management_port *port,
                      bool is_secure)
{
    const char *host = options->management.host;
    char url[URL_SIZE];

    if (options->silent || !port->server)
        return;
    if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0)
        host = "localhost";
    snprintf(url, sizeof url, strchr(host, ':') ? "%s://[%s]:%u" : "%s://%s:%u",
             is_secure ? "https" : "http", host, http_port(port->server));
    printf("Lagra's metrics are at %s/metrics\n", url);
    if (port->management.console)
        print_console(options, port->management.console, url);
}

/* Returns true if the server may run without the port because the options do not ask for it.
 * decision: 923 */
static bool refuse_port(const struct options *options, struct management_port *port,
                        const char *problem)
{
    console_free(port->management.console);
    port->management.console = NULL;
    if (!options->management_is_optional) {
        fprintf(stderr, "lagra: the management port: %s\n", problem);
        return false;
    }
    if (!options->silent)
        printf("Lagra's console and metrics are not served: %s "
               "(--managementPort names another port)\n",
               problem);
    return true;
}

/* Starts the server of the port. Returns true also without it, unless the options ask for the
 * port. */
static bool listen_at(const struct options *options, const struct certificate *certificate,
                      const struct http_limits *limits, struct management_port *port)
{
    struct net_listen where = {
        .host = options->management.host,
        .port = options->management.port,
        .cert_pem = certificate->chain,
        .key_pem = certificate->key,
    };
    const char *problem = "";

    port->server = http_start(&where, limits, &management_application, &port->management, &problem);
    return port->server || refuse_port(options, port, problem);
}

/* Starts the thread that saves and loads states (--testing). Returns false after printing why
 * not. */
static bool start_testing(struct management_port *port)
{
    port->management.pool = decision_pool_new(1, (struct pool_shares){ 0 });
    if (!port->management.pool)
        fprintf(stderr, "lagra: cannot start a thread for snapshots\n");
    return port->management.pool;
}

static struct console *new_console(const struct options *options, const struct management *of)
{
    struct console_options wanted = {
        .endpoints = of->endpoints,
        .servers = of->servers,
        .services = of->services,
        .store = of->store,
        .accounts = of->admin->accounts,
        .names = of->names,
        .has_faults = options->testing && !of->token.ptr,
    };

    memcpy(wanted.service_tags, of->service_tags, sizeof wanted.service_tags);
    return console_new(&wanted);
}

bool management_start(const struct options *options, const struct certificate *certificate,
                      const struct management *of, struct management_port *ret_port)
{
    struct http_limits limits = management_limits();

    if (!options->management.wanted)
        return true;
    certificate_renewal_show(certificate);
    ret_port->management = *of;
    ret_port->management.health_tag = of->service_tags[SERVICE_BLOB];
    ret_port->management.started_s = (uint64_t)time(NULL);
    ret_port->management.has_smb = options->smb.wanted;
    ret_port->management.names = bytes_from_string(options->management_names);
    ret_port->management.saved = &ret_port->saved;
    ret_port->saved.store = of->store;
    if (options->testing && !start_testing(ret_port))
        return false;
    if (!open_token(options, &ret_port->management.token))
        return false;
    if (wants_console(options, certificate))
        ret_port->management.console = new_console(options, &ret_port->management);
    if (options->cluster) /* each relayed request is forwarded over at most one connection */
        limits.net.outgoing_max = limits.net.connections_max + HTTP_OUTGOING_IDLE_MAX;
    if (!listen_at(options, certificate, &limits, ret_port))
        return false;
    if (ret_port->server && options->testing)
        fprintf(stderr,
                "lagra: --testing: clients of the management port can make requests fail and "
                "change the clock\n");
    return true;
}

/* Each request for /-/ready is forwarded over at most one connection. */
bool management_stand_by(const struct options *options, const struct certificate *certificate,
                         const struct http_application *health, void *tag,
                         struct management_port *ret_port)
{
    struct http_limits limits = management_limits();

    if (!options->management.wanted)
        return true;
    limits.net.outgoing_max = limits.net.connections_max + HTTP_OUTGOING_IDLE_MAX;
    ret_port->management.health = health;
    ret_port->management.health_tag = tag;
    ret_port->management.is_standing_by = true;
    ret_port->management.names = bytes_from_string(options->management_names);
    if (!open_token(options, &ret_port->management.token))
        return false;
    return listen_at(options, certificate, &limits, ret_port);
}

void management_stop(struct management_port *port)
{
    char *token = (char *)port->management.token.ptr;

    if (port->server)
        http_stop(port->server, GRACE_S);
    if (port->management.pool)
        decision_pool_free(port->management.pool);
    saved_states_release(&port->saved);
    free_secret(token);
}

void management_release(struct management_port *port)
{
    console_free(port->management.console);
    *port = (struct management_port){ .server = NULL };
}

void management_end_stand_by(struct management_port *port)
{
    management_stop(port);
    management_release(port);
}
