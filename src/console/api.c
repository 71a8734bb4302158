/* Handles requests of the console's pages to the server: POST /console/api/OPERATION with a JSON
 * object of strings. The response is a JSON object, or {"code": "...", "error": "a sentence"}.
 * These functions do not block. docs/console.md */
#include <string.h>

#include "console/console_private.h"
#include "console/guard.h"

/* An operation of the table below. */
struct api_operation {
    const char *name;
    const char *const arguments[API_ARGUMENTS_MAX];
    enum {
        BY_NOBODY, /* no session required */
        BY_USER,   /* requires a session; extends it unless a timer sent the request */
        BY_CLOCK,  /* requires a session; always sent by a timer of a page */
    } by;
    enum http_step (*run)(struct api_call *call);
};

/* ---- responses ---- */

static void begin_answer(struct api_call *call)
{
    text_init(&call->answer, call->exchange->arena, 1024);
    call->out = (struct json_writer){ .to = &call->answer };
    json_write_begin(&call->out, '{');
}

/* ---- read-only operations ---- */

struct names {
    struct json_writer *out;
    size_t count;
    bool hierarchical_only;
};

static void write_name(const struct account *account, void *context)
{
    struct names *names = context;

    if (account_is_disabled(account) ||
        (names->hierarchical_only && !account_is_hierarchical(account)))
        return;
    if (names->count++ > 0)
        text_add_char(names->out->to, ',');
    json_write_string(names->out->to, account_name(account));
}

/* Writes a list of the accounts that the session may see. */
static void write_accounts(struct api_call *call, const char *name, bool hierarchical_only)
{
    struct names names = { .out = &call->out, .hierarchical_only = hierarchical_only };

    json_write_name(&call->out, name);
    json_write_begin(&call->out, '[');
    if (call->session.account)
        write_name(call->session.account, &names);
    else
        accounts_each(call->console->options.accounts, write_name, &names);
    json_write_end(&call->out, ']');
}

static enum http_step show_session(struct api_call *call)
{
    const struct console_options *options = &call->console->options;

    json_write_bool(&call->out, "operator", !call->session.account);
    json_write_member(&call->out, "version", bytes_from_string(LAGRA_VERSION));
    write_accounts(call, "accounts", false);
    write_accounts(call, "hierarchical", true);
    json_write_name(&call->out, "services");
    json_write_begin(&call->out, '{');
    for (size_t i = 0; i < options->endpoints->count; i++) {
        if (options->servers[i])
            json_write_number(&call->out, options->endpoints->endpoints[i].service->name,
                              atomic_load(&options->endpoints->ports[i]));
    }
    json_write_end(&call->out, '}');
    json_write_bool(&call->out, "faults", options->has_faults);
    json_write_bool(&call->out, "secure", call->exchange->request.secure);
    return api_answer(call);
}

static enum http_step show_figures(struct api_call *call)
{
    struct console *console = call->console;
    uint64_t since = 0;

    if (call->given[0].ptr && !bytes_parse_u64(call->given[0], UINT64_MAX, &since))
        return api_fail(call, 400, "InvalidArgument", "\"since\" must be a number.");
    history_write_codes(call->exchange->arena, &call->out);
    lock_acquire(&console->lock);
    history_write(&console->history, &call->out, since);
    lock_release(&console->lock);
    return api_answer(call);
}

static enum http_step show_storage(struct api_call *call)
{
    struct console *console = call->console;

    lock_acquire(&console->lock);
    history_write_storage(&console->history, &call->out);
    lock_release(&console->lock);
    return api_answer(call);
}

/* ---- the table ---- */

/* clang-format off */
static const struct api_operation operations[] = {
    { "sign-in",  { "account", "key", "link" }, BY_NOBODY, api_sign_in },
    { "sign-out", { NULL },                     BY_USER,   api_sign_out },
    { "session",  { NULL },                     BY_USER,   show_session },
    { "sas",      { "account" },                BY_USER,   api_sas },
    { "make-sas", { "account", "service", "container", "object", "query" }, BY_USER, api_make_sas },
    { "sign-request", { "account", "text" },    BY_USER,   api_sign_request },
    { "figures",  { "since" },                  BY_CLOCK,  show_figures },
    { "storage",  { NULL },                     BY_CLOCK,  show_storage },
};
/* clang-format on */

static const struct api_operation *find_operation(struct bytes path)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (bytes_is(bytes_from(path, strlen(API_PATH)), operations[i].name))
            return &operations[i];
    }
    return NULL;
}

/* ---- request processing ---- */

static bool is_json(const struct request *request)
{
    return bytes_is_nocase(request_header(request, "content-type"), "application/json");
}

enum http_step api_head(struct exchange *exchange, struct console *console)
{
    const struct request *request = &exchange->request;
    const struct api_operation *operation = find_operation(request->path);
    struct api_call *call;

    if (!operation)
        return console_refuse(exchange, 404, "NoSuchOperation", "No such operation.");
    if (request->method != METHOD_POST || !is_json(request) || request->query.ptr) {
        response_header_string(&exchange->response, "Allow", "POST");
        return console_refuse(exchange, request->method == METHOD_POST ? 415 : 405, "NoSuchMethod",
                              "Operations require POST with application/json.");
    }
    if (request->content_length != HTTP_LENGTH_UNKNOWN &&
        request->content_length > API_BODY_MAX_BYTES)
        return console_refuse(exchange, 413, "InvalidArgument", "The body is too long.");
    call = arena_alloc(exchange->arena, sizeof *call);
    *call = (struct api_call){ .exchange = exchange, .console = console, .operation = operation };
    call->session =
        console_session(console, exchange, operation->by == BY_USER && !api_is_timed(request));
    if (operation->by != BY_NOBODY && !api_has_token(&call->session, request))
        return console_refuse(exchange, 401, "NotSignedIn", "You are not signed in.");
    if (call->session.is_taken)
        exchange_authenticate(exchange);
    text_init(&call->body, exchange->arena, 512);
    exchange->application = call;
    return HTTP_WANT_BODY;
}

enum http_step api_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct api_call *call = exchange->application;

    *ret_taken = data.len;
    if (exchange->server_is_busy || call->body.len + data.len > API_BODY_MAX_BYTES)
        return console_refuse(exchange, 413, "InvalidArgument", "The body is too long.");
    text_add(&call->body, data);
    return HTTP_WANT_BODY;
}

/* ---- arguments ---- */

/* Reads the arguments in the body. Returns an error message, or NULL. */
static const char *read_arguments(struct api_call *call)
{
    struct json_reader reader;
    struct json_member member;

    json_object_init(&reader, call->exchange->arena, text_bytes(&call->body), 0);
    while (json_next(&reader, &member)) {
        size_t i = 0;

        while (i < API_ARGUMENTS_MAX && call->operation->arguments[i] &&
               !bytes_is(member.name, call->operation->arguments[i]))
            i++;
        if (i == API_ARGUMENTS_MAX || !call->operation->arguments[i])
            return "Unknown argument.";
        if (member.kind != JSON_STRING || call->given[i].ptr)
            return "Each argument must be a string, and may be given only once.";
        if (member.text.len > 0) /* an empty argument counts as absent */
            call->given[i] = member.text;
    }
    return reader.bad ? "The body is not a JSON object of strings." : NULL;
}

enum http_step api_end(struct exchange *exchange)
{
    struct api_call *call = exchange->application;
    const char *problem = read_arguments(call);

    if (problem)
        return api_fail(call, 400, "InvalidArgument", problem);
    begin_answer(call);
    return call->operation->run(call);
}

/* Wipes the request and the response, because requests may contain keys, and responses
 * secrets. */
void api_done(struct exchange *exchange)
{
    struct api_call *call = exchange->application;

    if (!call)
        return;
    explicit_bzero(call->body.ptr, call->body.len);
    if (call->answer.ptr)
        explicit_bzero(call->answer.ptr, call->answer.len);
}
