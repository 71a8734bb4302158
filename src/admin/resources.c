/* `lagra container` and similar commands: creates, lists and deletes containers, queues, tables
 * and shares with internal requests to the service, in any cell of a cluster
 * (request/cell_request.h). */
#include "admin/container_protection.h"
#include "admin/resource_request.h"

#include "base/encode.h"
#include "base/url.h"
#include "base/xml.h"

#define XML_LIMITS ((struct xml_limits){ .depth_max = 16, .nodes_max = 400000 })

/* A kind of resource and its names. */
struct kind {
    const char *name; /* in operations: "container-create" */
    const char *service;
    const char *selector; /* in the query of requests */
    /* for listing: the query, and the XML elements of the list and of an entry */
    const char *list;
    const char *element;
    const char
        /* additional argument for creation, and the header that it sets; NULL if none */
        *argument;
    const char *header;
};
static const struct kind kinds[] = {
    { "container", "blob", "restype=container", "Containers", "Container", "access",
      "x-ms-blob-public-access" },
    { "queue", "queue", NULL, "Queues", "Queue", NULL, NULL },
    { "table", "table", NULL, NULL, NULL, NULL, NULL }, /* its requests use JSON */
    { "share", "file", "restype=share", "Shares", "Share", "quota", "x-ms-share-quota" },
};

static const struct kind *kind_of(const struct admin_call *call)
{
    struct bytes name, action;
    size_t i = 0;

    bytes_cut(bytes_from_string(call->operation->name), '-', &name, &action);
    while (!bytes_is(name, kinds[i].name))
        i++;
    return &kinds[i];
}

static bool is_table(const struct kind *kind)
{
    return !kind->list;
}

/* ---- requests ---- */

/* Returns {"TableName":"name"}. */
static struct bytes table_body(struct arena *arena, struct bytes name)
{
    struct text text;
    struct json_writer out = { .to = &text };

    text_init(&text, arena, 64);
    json_write_begin(&out, '{');
    json_write_member(&out, "TableName", name);
    json_write_end(&out, '}');
    return text_bytes(&text);
}

static const struct http_header json_headers[] = {
    { BYTES("content-type"), BYTES("application/json"), BYTES("content-type") },
    { BYTES("accept"), BYTES("application/json;odata=nometadata"), BYTES("accept") },
};

/* Arguments: name, account, and the kind's additional one. */
enum { NAME, ACCOUNT, MORE };

void admin_resource_create(struct admin_call *call)
{
    const struct kind *kind = kind_of(call);
    struct internal_request request = { .method = METHOD_PUT };
    struct http_header more = { .value = call->given[MORE] };
    struct internal_response answer;
    struct bytes account;

    if (!resource_find_account(call, call->given[ACCOUNT], &account) ||
        !resource_check_name(call, kind->service, call->given[NAME]))
        return;
    if (is_table(kind)) {
        request.method = METHOD_POST;
        request.path = arena_printf(call->arena, "/%.*s/Tables", BYTES_ARG(account));
        request.body = table_body(call->arena, call->given[NAME]);
        request.headers = json_headers;
        request.header_count = 2;
    } else {
        request.path = resource_path(call->arena, account, call->given[NAME]);
        request.query = bytes_from_string(kind->selector);
        more.name = more.name_as_sent = bytes_from_string(kind->header);
        request.headers = &more;
        request.header_count = kind->header && more.value.ptr ? 1 : 0;
    }
    if (!resource_request(call, kind->service, &request, &answer))
        return;
    json_write_member(&call->out, "account", account);
    json_write_member(&call->out, "name", call->given[NAME]);
    /* Create Queue also succeeds for an existing queue, but with another status. */
    json_write_bool(&call->out, "created", answer.response.status == 201 || is_table(kind));
}

/* ---- deletion ---- */

void admin_resource_delete(struct admin_call *call)
{
    const struct kind *kind = kind_of(call);
    struct internal_request request = { .method = METHOD_DELETE };
    bool is_closed = false;
    struct internal_response answer;
    struct bytes account;

    if (!resource_find_account(call, call->given[ACCOUNT], &account) ||
        !resource_check_name(call, kind->service, call->given[NAME]))
        return;
    if (strcmp(kind->name, "container") == 0 && !container_close(call, account, &is_closed))
        return;
    if (is_table(kind)) {
        request.path = arena_printf(call->arena, "/%.*s/Tables('%.*s')", BYTES_ARG(account),
                                    BYTES_ARG(percent_encode(call->arena, call->given[NAME], "")));
        request.headers = json_headers;
        request.header_count = 2;
    } else {
        request.path = resource_path(call->arena, account, call->given[NAME]);
        request.query = bytes_from_string(kind->selector);
    }
    if (!resource_request(call, kind->service, &request, &answer)) {
        if (is_closed)
            container_reopen(call, account);
        return;
    }
    json_write_member(&call->out, "account", account);
    json_write_member(&call->out, "name", call->given[NAME]);
}

/* ---- lists ---- */

static void write_text(struct json_writer *out, const char *name, const struct xml_node *node)
{
    if (node && node->text.len > 0)
        json_write_member(out, name, node->text);
}

static void write_entry(struct json_writer *out, const struct xml_node *entry)
{
    const struct xml_node *properties = xml_child(entry, "Properties");

    json_write_begin(out, '{');
    write_text(out, "name", xml_child(entry, "Name"));
    if (properties) {
        write_text(out, "modified", xml_child(properties, "Last-Modified"));
        write_text(out, "access", xml_child(properties, "PublicAccess"));
        write_text(out, "quota", xml_child(properties, "Quota"));
    }
    json_write_end(out, '}');
}

/* Writes the entries of a page. Returns the marker of the next page; ptr NULL if none exists. */
static struct bytes write_page(struct admin_call *call, const struct kind *kind, struct bytes body)
{
    struct xml_error problem;
    const struct xml_node *root = xml_parse(call->arena, body, XML_LIMITS, &problem);
    const struct xml_node *list = root ? xml_child(root, kind->list) : NULL;
    const struct xml_node *next = root ? xml_child(root, "NextMarker") : NULL;

    for (const struct xml_node *entry = list ? list->first_child : NULL; entry; entry = entry->next)
        if (bytes_is(entry->name, kind->element))
            write_entry(&call->out, entry);
    return next && next->text.len > 0 ? next->text : bytes_from_string(NULL);
}

static void write_tables(struct admin_call *call, struct bytes body)
{
    static const char *const value = "value", *const name = "TableName";
    struct json_member member;
    struct json_reader reader;

    if (!json_object_pick(call->arena, body, 4, &value, 1, &member))
        return;
    json_list_init(&reader, call->arena, member.text, 2);
    while (json_next(&reader, &member)) {
        struct json_member table;

        if (!json_object_pick(call->arena, member.text, 2, &name, 1, &table))
            continue;
        json_write_begin(&call->out, '{');
        json_write_member(&call->out, "name", table.text);
        json_write_end(&call->out, '}');
    }
}

/* Arguments: account, prefix, marker, and for containers `all`; for tables account, marker and
 * `all`. */
enum { LIST_ACCOUNT, LIST_PREFIX, LIST_MARKER, LIST_ALL };
enum { LIST_TABLES_MARKER = 1, LIST_TABLES_ALL };

static bool shows_all(const struct admin_call *call, const struct kind *kind)
{
    return call->given[is_table(kind) ? LIST_TABLES_ALL : LIST_ALL].ptr != NULL;
}

static void write_metrics_table(struct admin_call *call, const struct kind *kind,
                                struct bytes account, const char *name)
{
    struct internal_request request = { .method = METHOD_GET,
                                        .path = arena_printf(call->arena, "/%.*s/Tables('%s')",
                                                             BYTES_ARG(account), name),
                                        .headers = json_headers,
                                        .header_count = 2 };
    struct internal_response answer;

    cell_request_run(endpoint_find(call->admin->endpoints, bytes_from_string(kind->service)),
                     call->arena, &request, &answer);
    if (answer.error)
        return;
    json_write_begin(&call->out, '{');
    json_write_member(&call->out, "name", bytes_from_string(name));
    json_write_end(&call->out, '}');
}

/* Lists the tables of Storage Analytics, which Query Tables omits.
 * rest: Storage-Analytics-Metrics-Table-Schema */
static void write_metrics_tables(struct admin_call *call, const struct kind *kind,
                                 struct bytes account)
{
    static const char *const names[] = {
        "$MetricsCapacityBlob",
        "$MetricsHourPrimaryTransactionsBlob",
        "$MetricsHourPrimaryTransactionsFile",
        "$MetricsHourPrimaryTransactionsQueue",
        "$MetricsHourPrimaryTransactionsTable",
        "$MetricsMinutePrimaryTransactionsBlob",
        "$MetricsMinutePrimaryTransactionsFile",
        "$MetricsMinutePrimaryTransactionsQueue",
        "$MetricsMinutePrimaryTransactionsTable",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        write_metrics_table(call, kind, account, names[i]);
}

static struct internal_request list_request(struct admin_call *call, const struct kind *kind,
                                            struct bytes account)
{
    struct arena *arena = call->arena;
    struct bytes prefix = is_table(kind) ? bytes_from_string("") : call->given[LIST_PREFIX];
    struct bytes marker = call->given[is_table(kind) ? LIST_TABLES_MARKER : LIST_MARKER];
    struct internal_request request = { .method = METHOD_GET };
    struct text query;

    text_init(&query, arena, 128);
    text_add_string(&query, is_table(kind) ? "$top=1000" : "comp=list&maxresults=1000");
    if (!is_table(kind) && shows_all(call, kind))
        text_add_string(&query, "&include=system");
    if (prefix.len > 0)
        text_printf(&query, "&prefix=%.*s", BYTES_ARG(percent_encode(arena, prefix, "")));
    if (marker.len > 0)
        text_printf(&query, "&%s=%.*s", is_table(kind) ? "NextTableName" : "marker",
                    BYTES_ARG(percent_encode(arena, marker, "")));
    request.path =
        arena_printf(arena, "/%.*s/%s", BYTES_ARG(account), is_table(kind) ? "Tables" : "");
    request.query = text_bytes(&query);
    request.headers = json_headers;
    request.header_count = is_table(kind) ? 2 : 0;
    return request;
}

void admin_resource_list(struct admin_call *call)
{
    const struct kind *kind = kind_of(call);
    struct internal_request request;
    struct internal_response answer;
    struct bytes account, next = { NULL, 0 };
    const struct http_header *marker;

    if (!resource_find_account(call, call->given[LIST_ACCOUNT], &account))
        return;
    request = list_request(call, kind, account);
    if (!resource_request(call, kind->service, &request, &answer))
        return;
    json_write_member(&call->out, "account", account);
    json_write_name(&call->out, "items");
    json_write_begin(&call->out, '[');
    if (is_table(kind)) {
        if (shows_all(call, kind) && call->given[LIST_TABLES_MARKER].len == 0)
            write_metrics_tables(call, kind, account);
        write_tables(call, answer.response.body);
        marker = response_find_header(&answer.response,
                                      bytes_from_string("x-ms-continuation-NextTableName"));
        if (marker)
            next = marker->value;
    } else {
        next = write_page(call, kind, answer.response.body);
    }
    json_write_end(&call->out, ']');
    if (next.len > 0)
        json_write_member(&call->out, "next", next);
}
