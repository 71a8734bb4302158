/* The management port: see management.h. */
#include "admin/management.h"

#include "admin/management_answer.h"
#include "admin/testing.h"
#include "base/metrics.h"
#include "http/site.h"
#include "request/request.h"

#define CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct http_limits management_limits(void)
{
    struct http_limits limits = http_limits_default;

    limits.net.workers = 1;
    limits.net.connections_max = 64;
    limits.answer_files_max = MANAGEMENT_FILES_MAX;
    return limits;
}

static enum http_step refuse(struct exchange *exchange, int status, const char *why)
{
    return management_answer(exchange, status, "text/plain", bytes_from_string(why));
}

static bool has_token(const struct management *management, const struct request *request)
{
    static const char scheme[] = "Bearer ";
    struct bytes given = request_header(request, "authorization");

    return management->token.ptr && bytes_has_prefix(given, bytes_from_string(scheme)) &&
           bytes_equal_secret(bytes_from(given, sizeof scheme - 1), management->token);
}

/* Refuses requests from pages of other sites, recognized by Host and by the headers that browsers
 * add. Such a page could otherwise use the port without a token. */
static bool check_site(struct exchange *exchange, const struct management *management,
                       enum http_step *ret_step)
{
    const struct request *request = &exchange->request;

    if (has_token(management, request))
        return true;
    if (request->authority.ptr && !site_host_is_address(exchange->arena, request) &&
        !site_host_is_ours(exchange->arena, request, management->names))
        *ret_step = refuse(exchange, 421,
                           "without TLS, use an IP address, localhost or a name in "
                           "--managementNames for this port\n");
    else if (site_is_other_page(request))
        *ret_step = refuse(exchange, 403, "pages of other sites may not use this port\n");
    else
        return true;
    return false;
}

/* ---- /-/live and /-/ready ---- */

/* Returns any served endpoint; all report the same health. */
static const struct endpoint *health_endpoint(const struct management *management)
{
    for (size_t i = 0; i < management->endpoints->count; i++) {
        if (management->servers[i])
            return &management->endpoints->endpoints[i];
    }
    return NULL;
}

/* ---- metrics ---- */

static enum http_step answer_metrics(struct exchange *exchange, const struct management *management)
{
    struct text page;

    text_init(&page, exchange->arena, 64 * 1024);
    metrics_print(&page);
    if (!management->is_standing_by) {
        figures_print(&page, management);
        usage_survey_print(management->usage, &page);
    }
    return management_answer(exchange, 200, CONTENT_TYPE, text_bytes(&page));
}

/* ---- the console ---- */

#define OPERATORS_PATH "/console/api/admin/"

/* Returns true for operations of admin.h that are available in a browser. */
static bool is_for_console(struct bytes operation)
{
    static const char *const operations[] = { "status",
                                              "account-list",
                                              "account-show",
                                              "account-add",
                                              "account-set",
                                              "usage",
                                              "account-rotate-key",
                                              "log-level",
                                              "scrub",
                                              "scrub-state",
                                              "slowest",
                                              "todo",
                                              "backup-state",
                                              "config" };

    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (bytes_is(operation, operations[i]))
            return true;
    }
    return false;
}

static enum http_step serve_console(struct exchange *exchange, const struct management *management)
{
    struct request *request = &exchange->request;
    const struct admin *admin = management->admin;
    struct bytes operation = bytes_from(request->path, sizeof OPERATORS_PATH - 1);
    enum http_step step;

    if (!bytes_has_prefix(request->path, bytes_from_string(OPERATORS_PATH)) ||
        !is_for_console(operation) || !admin->pool)
        return console_serve(exchange, management->console);
    if (!console_admits_operator(exchange, management->console, &step))
        return step;
    request->path = bytes_from(request->path, sizeof OPERATORS_PATH - 2);
    return exchange_pass_on(exchange, &admin_application, (void *)(uintptr_t)admin);
}

/* ---- request processing ---- */

static enum http_step on_head(struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct management *management = request->listener_tag;
    const struct endpoint *endpoint = NULL;
    enum http_step step;

    if (!management->is_standing_by) {
        exchange_answers_by(exchange, management->admin->tenure);
        endpoint = health_endpoint(management);
    }
    if (exchange->server_is_busy && !management->console)
        return refuse(exchange, 503, "too many connections\n");
    if (management->console && console_is_asked(request))
        return serve_console(exchange, management);
    if (!check_site(exchange, management, &step))
        return step;
    if (management->health && is_health_request(request))
        return exchange_pass_on(exchange, management->health, management->health_tag);
    if (endpoint && is_health_request(request))
        return exchange_pass_on(exchange, &service_application, (void *)(uintptr_t)endpoint);
    if (management->token.ptr && !has_token(management, request)) {
        response_header_string(&exchange->response, "WWW-Authenticate", "Bearer");
        return refuse(exchange, 401, "a token is required: Authorization: Bearer TOKEN\n");
    }
    exchange_authenticate(exchange);
    if (is_testing_request(request) && !management->is_standing_by)
        return testing_head(exchange, management);
    if (!bytes_is(request->path, "/metrics"))
        return refuse(exchange, 404, "not found; this port serves /metrics\n");
    if (request->method != METHOD_GET && request->method != METHOD_HEAD) {
        response_header_string(&exchange->response, "Allow", "GET, HEAD");
        return refuse(exchange, 405, "only GET and HEAD are supported\n");
    }
    return answer_metrics(exchange, management);
}

/* Receives a body. Only requests of testing.h have one. */
static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    return testing_body(exchange, data, ret_taken);
}

static enum http_step on_end(struct exchange *exchange)
{
    return testing_end(exchange, exchange->request.listener_tag);
}

static void on_done(struct exchange *exchange)
{
    (void)exchange;
}

const struct http_application management_application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
    .round = console_round,
};
