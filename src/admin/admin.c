/* Processes operators' requests: see admin.h. head() selects the operation; body() collects the
 * body; end() parses the arguments, runs the operation on a pool thread, and responds. */
#include "admin/admin.h"

#include "admin/admin_private.h"
#include "admin/restore_state.h"

#define CONTENT_TYPE "application/json"

/* clang-format off */
static const struct admin_operation operations[] = {
    /* name          arguments required, maximum body */
    { "status",      { NULL },          0, 0, admin_status },
    { "config",      { NULL },          0, 0, admin_config },
    { "slowest",     { NULL },          0, 0, admin_slowest },
    { "todo",        { NULL },          0, 0, admin_todo },
    { "log-level",   { "level" },       1, 0, admin_log_level },
    { "console-link", { NULL },         0, 0, admin_console_link },
    { "backup-begin", { NULL },         0, 0, admin_backup_begin },
    { "backup-hold", { "id", "extent" }, 1, 0, admin_backup_hold },
    { "backup-end",  { "id" },          1, 0, admin_backup_end },
    { "backup-state", { NULL },         0, 0, admin_backup_state },
    { "restore-begin", { "kind", "account", "name", "replace" }, 3, 0, admin_restore_begin },
    { "restore-put", { NULL }, 0, RESTORE_BATCH_MAX, admin_restore_put },
    { "restore-end", { "id" }, 1, 0, admin_restore_end },
    { "restore-cancel", { "id" }, 1, 0, admin_restore_cancel },
    { "scrub", { "rate" }, 0, 0, admin_scrub },
    { "scrub-state", { NULL }, 0, 0, admin_scrub_state },
    { "usage", { NULL }, 0, 0, admin_usage },
    { "account-add", { "name", "key1", "key2", "hierarchical" }, 1, 0, admin_account_add },
    { "account-list", { NULL }, 0, 0, admin_account_list },
    { "account-show", { "name" }, 1, 0, admin_account_show },
    { "account-set", { "name", "state", "key1", "key2", "requests", "bandwidth", "capacity", "containers", "settings" }, 1, 0, admin_account_set },
    { "account-rotate-key", { "name", "key" }, 2, 0, admin_account_rotate_key },
    { "scope-add", { "name", "account" }, 1, 0, admin_scope_add },
    { "scope-list", { "account" }, 0, 0, admin_scope_list },
    { "scope-set", { "name", "state", "account" }, 2, 0, admin_scope_set },
    { "account-sign", { "name", "text", "key" }, 2, 0, admin_account_sign },
    { "container-create", { "name", "account", "access" }, 1, 0, admin_resource_create },
    { "container-list", { "account", "prefix", "marker", "all" }, 0, 0, admin_resource_list },
    { "container-delete", { "name", "account" }, 1, 0, admin_resource_delete },
    { "container-show", { "name", "account" }, 1, 0, admin_container_show },
    { "container-protect", { "name", "change", "days", "append", "tags", "account" }, 2, 0, admin_container_protect },
    { "queue-create", { "name", "account" }, 1, 0, admin_resource_create },
    { "queue-list", { "account", "prefix", "marker" }, 0, 0, admin_resource_list },
    { "queue-delete", { "name", "account" }, 1, 0, admin_resource_delete },
    { "table-create", { "name", "account" }, 1, 0, admin_resource_create },
    { "table-list", { "account", "marker", "all" }, 0, 0, admin_resource_list },
    { "table-delete", { "name", "account" }, 1, 0, admin_resource_delete },
    { "share-create", { "name", "account", "quota" }, 1, 0, admin_resource_create },
    { "share-list", { "account", "prefix", "marker" }, 0, 0, admin_resource_list },
    { "share-delete", { "name", "account" }, 1, 0, admin_resource_delete },
};
/* clang-format on */

struct http_limits admin_limits(void)
{
    struct http_limits limits = http_limits_default;

    limits.net.workers = 1;
    limits.net.connections_max = 16;
    limits.discard_max_bytes = ADMIN_BODY_MAX_BYTES;
    limits.answer_files_max = 0;
    return limits;
}

/* ---- responses ---- */

static enum http_step respond(struct admin_call *call)
{
    struct response *response = &call->exchange->response;

    json_write_end(&call->out, '}');
    text_add_char(&call->answer, '\n');
    response->status = call->status;
    response_header_string(response, "Server", "Lagra/" LAGRA_VERSION);
    response_header_string(response, "Content-Type", CONTENT_TYPE);
    response_header_string(response, "Cache-Control", "no-store");
    response->body_kind = BODY_BYTES;
    response->body = text_bytes(&call->answer);
    return HTTP_RESPOND;
}

/* ---- selecting the operation ---- */

static const struct admin_operation *find_operation(struct bytes path)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (bytes_is(bytes_from(path, 1), operations[i].name))
            return &operations[i];
    }
    return NULL;
}

static size_t body_max(const struct admin_operation *operation)
{
    return operation->body_max > 0 ? operation->body_max : ADMIN_BODY_MAX_BYTES;
}

/* Checks the header section. Returns false after failing the call. */
static bool check_head(struct admin_call *call)
{
    const struct request *request = &call->exchange->request;

    call->operation = find_operation(request->path);
    if (call->exchange->server_is_busy)
        admin_fail(call, 503, "ServerBusy", "Too many concurrent requests.");
    else if (!call->operation)
        admin_fail(call, 404, "NoSuchOperation", "No such operation.");
    else if (request->method != METHOD_POST)
        admin_fail(call, 405, "NoSuchMethod", "Operations require POST.");
    else if (request->query.ptr)
        admin_fail(call, 400, "InvalidArgument", "Arguments must be members of the body.");
    else if (request->content_length != HTTP_LENGTH_UNKNOWN &&
             request->content_length > body_max(call->operation))
        admin_fail(call, 413, "InvalidArgument", "The body is too long.");
    return call->status == 0;
}

static enum http_step on_head(struct exchange *exchange)
{
    struct admin_call *call = arena_alloc(exchange->arena, sizeof *call);

    call->exchange = exchange;
    call->arena = exchange->arena;
    call->admin = exchange->request.listener_tag;
    exchange->application = call;
    exchange_answers_by(exchange, call->admin->tenure);
    exchange_authenticate(exchange);
    if (!check_head(call))
        return respond(call);
    text_init(&call->body, call->arena, 1024);
    return HTTP_WANT_BODY;
}

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct admin_call *call = exchange->application;

    *ret_taken = data.len;
    if (exchange->server_is_busy || call->body.len + data.len > body_max(call->operation)) {
        admin_fail(call, 413, "InvalidArgument", "The body is too long.");
        return respond(call);
    }
    text_add(&call->body, data);
    return HTTP_WANT_BODY;
}

/* ---- arguments ---- */

/* Returns the index of an argument, or ADMIN_ARGUMENTS_MAX if the operation has no such
 * argument. */
static size_t index_of(const struct admin_operation *operation, struct bytes name)
{
    size_t i = 0;

    while (i < ADMIN_ARGUMENTS_MAX && operation->arguments[i] &&
           !bytes_is(name, operation->arguments[i]))
        i++;
    return i < ADMIN_ARGUMENTS_MAX && operation->arguments[i] ? i : ADMIN_ARGUMENTS_MAX;
}

static void read_argument(struct admin_call *call, const struct json_member *member)
{
    size_t i = index_of(call->operation, member->name);
    struct bytes text = json_text(member);

    if (i == ADMIN_ARGUMENTS_MAX)
        admin_fail(call, 400, "InvalidArgument", "\"%.*s\" is not an argument of %s.",
                   BYTES_ARG(member->name), call->operation->name);
    else if (!text.ptr || memchr(text.ptr, '\0', text.len))
        admin_fail(call, 400, "InvalidArgument", "\"%s\" must be a string.",
                   call->operation->arguments[i]);
    else if (call->given[i].ptr)
        admin_fail(call, 400, "InvalidArgument", "\"%s\" is given twice.",
                   call->operation->arguments[i]);
    else
        call->given[i] = text;
}

/* Parses the body. Returns false after failing the call. */
static bool read_arguments(struct admin_call *call)
{
    struct json_reader reader;
    struct json_member member;

    if (call->body.len > 0 && call->operation->body_max == 0) {
        json_object_init(&reader, call->arena, text_bytes(&call->body), 0);
        while (call->status == 0 && json_next(&reader, &member))
            read_argument(call, &member);
        if (call->status == 0 && reader.bad)
            admin_fail(call, 400, "InvalidArgument", "The body is not a JSON object of strings.");
    }
    for (unsigned i = 0; i < call->operation->required && call->status == 0; i++) {
        if (!call->given[i].ptr)
            admin_fail(call, 400, "InvalidArgument", "%s takes \"%s\".", call->operation->name,
                       call->operation->arguments[i]);
    }
    return call->status == 0;
}

/* ---- running the operation ---- */

static void run(struct pool_job *job)
{
    struct admin_call *call = (struct admin_call *)(void *)job;

    admin_begin_answer(call, 200);
    call->operation->run(call);
    exchange_resume(call->exchange); /* the call may already be freed */
}
_Static_assert(offsetof(struct admin_call, job) == 0,
               "a pointer to the job is a pointer to its call");

static enum http_step on_end(struct exchange *exchange)
{
    struct admin_call *call = exchange->application;

    if (call->status != 0 || !read_arguments(call))
        return respond(call);
    call->job = (struct pool_job){ .run = run };
    exchange_suspend(exchange);
    decision_pool_submit(call->admin->pool, &call->job);
    return HTTP_WAIT;
}

static void wipe(const struct text *text)
{
    if (text->ptr)
        explicit_bzero(text->ptr, text->len);
}

/* Wipes the request and the response, because they may contain account keys. */
static void on_done(struct exchange *exchange)
{
    struct admin_call *call = exchange->application;

    wipe(&call->body);
    wipe(&call->answer);
}

const struct http_application admin_application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
};
