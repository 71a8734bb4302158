/* See table_request.h. rest: Table-Service-REST-API */
#include "table_request.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "draft.h"
#include "table_reply.h"
#include "table_text.h"
#include "table_value.h"

#define ACCOUNT_PATH    "/devstoreaccount1"
#define JSON            "application/json;odata=minimalmetadata"
#define BATCH_TYPE      "multipart/mixed; boundary=batch_1"
#define CHANGESET_TYPE  "multipart/mixed; boundary=changeset_1"
#define TICKS_OF_SECOND 10000000u
#define UNIX_EPOCH_S    UINT64_C(62135596800) /* from the year 1 on */

static void add(struct draft *draft, const char *name, struct bytes value)
{
    assert(draft->header_count < DRAFT_HEADERS_MAX);
    draft->headers[draft->header_count].name = name;
    draft->headers[draft->header_count++].value = value;
}

/* ---- names ---- */

static struct bytes entity_path(struct arena *arena, unsigned table, unsigned place)
{
    struct text key, text;

    text_init(&text, arena, 256);
    text_printf(&text, ACCOUNT_PATH "/%s(PartitionKey=", table_names[table]);
    text_init(&key, arena, 64);
    table_add_literal(&key, table_partition_of(place));
    text_add_char(&key, '\0');
    table_add_escaped(&text, key.ptr);
    text_add_string(&text, ",RowKey=");
    text_init(&key, arena, 64);
    table_add_literal(&key, table_row_of(place));
    text_add_char(&key, '\0');
    table_add_escaped(&text, key.ptr);
    text_add_char(&text, ')');
    return text_bytes(&text);
}

/* As the service writes it: without zeros at the end of the fraction. */
static struct bytes etag_text(struct arena *arena, uint64_t ticks)
{
    time_t seconds = (time_t)(ticks / TICKS_OF_SECOND - UNIX_EPOCH_S);
    char time[32], fraction[16];
    size_t len =
        (size_t)snprintf(fraction, sizeof fraction, ".%07u", (unsigned)(ticks % TICKS_OF_SECOND));
    struct tm tm;

    gmtime_r(&seconds, &tm);
    strftime(time, sizeof time, "%Y-%m-%dT%H%%3A%M%%3A%S", &tm);
    while (fraction[len - 1] == '0')
        len--;
    return arena_printf(arena, "W/\"datetime'%s%.*sZ'\"", time, len == 1 ? 0 : (int)len, fraction);
}

/* ---- one write ---- */

static bool names_entity(enum table_op op)
{
    return op == TABLE_REPLACE || op == TABLE_MERGE || op == TABLE_DELETE || op == TABLE_READ;
}

static void add_entity(struct text *text, const struct table_change *change)
{
    static const char *const names[TABLE_PROPERTIES] = { "A", "B", "C", "D" };
    static char value[TABLE_VALUE_SIZE];
    const char *before = "{";

    if (change->op == TABLE_INSERT) {
        text_printf(text, "{\"PartitionKey\":\"%s\",\"RowKey\":\"%s\"",
                    table_partitions_json[change->place / TABLE_ROWS], table_row_of(change->place));
        before = ",";
    }
    for (unsigned i = 0; i < TABLE_PROPERTIES; i++) {
        if (change->values[i] == 0)
            continue;
        if (table_value_type(change->values[i]))
            text_printf(text, "%s\"%s@odata.type\":\"%s\"", before, names[i],
                        table_value_type(change->values[i]));
        if (table_value_type(change->values[i]))
            before = ",";
        table_value_json(change->values[i], value);
        text_printf(text, "%s\"%s\":", before, names[i]);
        text_add_string(text, value);
        before = ",";
    }
    text_add_string(text, *before == '{' ? "{}" : "}");
}

/* Method, path, headers and body of a write, or of what reads one entity. */
static void write_change(unsigned table, const struct table_change *change, struct arena *arena,
                         struct draft *draft)
{
    static const struct {
        enum http_method method;
        const char *text;
    } methods[TABLE_OPS] = {
        [TABLE_INSERT] = { METHOD_POST, "POST" },  [TABLE_REPLACE] = { METHOD_PUT, "PUT" },
        [TABLE_MERGE] = { METHOD_MERGE, "MERGE" }, [TABLE_DELETE] = { METHOD_DELETE, "DELETE" },
        [TABLE_READ] = { METHOD_GET, "GET" },
    };
    struct text body;

    draft->method = methods[change->op].method;
    draft->method_text = methods[change->op].text;
    draft->path = names_entity(change->op)
                      ? entity_path(arena, table, change->place)
                      : arena_printf(arena, ACCOUNT_PATH "/%s", table_names[table]);
    if (change->condition == TABLE_IF_ANY)
        add(draft, "if-match", bytes_from_string("*"));
    if (change->condition == TABLE_IF_ETAG)
        add(draft, "if-match", etag_text(arena, change->etag));
    if (change->is_quiet)
        add(draft, "prefer", bytes_from_string("return-no-content"));
    add(draft, "accept", bytes_from_string(JSON));
    if (change->op == TABLE_READ || change->op == TABLE_DELETE)
        return;
    add(draft, "content-type", bytes_from_string("application/json"));
    text_init(&body, arena, 256);
    add_entity(&body, change);
    draft->body = text_bytes(&body);
}

/* ---- queries ---- */

static struct bytes query_text(const struct table_ask *ask, struct arena *arena)
{
    const struct table_query *query = &ask->query;
    struct text text, filter;

    text_init(&text, arena, 256);
    text_init(&filter, arena, 256);
    table_add_filter(&filter, query);
    if (query->filter != FILTER_NONE) {
        text_add_string(&text, "&$filter=");
        table_add_escaped(&text, filter.ptr);
    }
    if (query->top > 0)
        text_printf(&text, "&$top=%u", query->top);
    if (query->is_partial)
        text_add_string(&text, "&$select=B");
    if (query->next_partition[0]) {
        text_add_string(&text, "&NextPartitionKey=");
        table_add_escaped(&text, query->next_partition);
        text_add_string(&text, "&NextRowKey=");
        table_add_escaped(&text, query->next_row);
    }
    return text.len > 0 ? bytes_from(text_bytes(&text), 1) : (struct bytes){ NULL, 0 };
}

static void write_query(const struct table_ask *ask, struct arena *arena, struct draft *draft)
{
    draft->method = METHOD_GET;
    draft->method_text = "GET";
    draft->path = ask->op == TABLE_LIST
                      ? bytes_from_string(ACCOUNT_PATH "/Tables")
                      : arena_printf(arena, ACCOUNT_PATH "/%s()", table_names[ask->table]);
    draft->query = query_text(ask, arena);
    add(draft, "accept", bytes_from_string(JSON));
}

/* ---- shared access signatures. rest: Create-service-SAS; of version 2020-08-04 ---- */

#define SAS_VERSION "2020-08-04"
#define SAS_EXPIRY  "2100-01-01T00:00:00Z"

static void add_sas(const struct table_ask *ask, struct arena *arena, struct draft *draft)
{
    const struct table_sas *sas = &ask->sas;
    static const char *const lower[TABLES] = { "alpha", "beta2" };
    const char *keys[] = { sas->has_first ? table_partition_of(sas->first) : "",
                           sas->has_first && sas->says_first_row ? table_row_of(sas->first) : "",
                           sas->has_last ? table_partition_of(sas->last) : "",
                           sas->has_last && sas->says_last_row ? table_row_of(sas->last) : "" };
    static const char *const names[] = { "spk", "srk", "epk", "erk" };
    const char *letters = table_letters[sas->by_policy ? sas->beside : sas->letters];
    char plain[400], mac[64], policy[8] = "";
    struct text text;

    if (sas->by_policy)
        (void)snprintf(policy, sizeof policy, "p%u", sas->letters);
    (void)snprintf(plain, sizeof plain,
                   "%s\n\n" SAS_EXPIRY "\n/table/devstoreaccount1/%s\n%s\n\n\n" SAS_VERSION
                   "\n%s\n%s\n%s\n%s",
                   letters, lower[ask->table], policy, keys[0], keys[1], keys[2], keys[3]);
    request_mac(plain, mac, sizeof mac);
    text_init(&text, arena, 512);
    if (draft->query.len > 0) {
        text_add(&text, draft->query);
        text_add_char(&text, '&');
    }
    text_printf(&text, "sv=" SAS_VERSION "&tn=%s&se=" SAS_EXPIRY "%s%s%s%s", lower[ask->table],
                policy[0] ? "&si=" : "", policy, letters[0] ? "&sp=" : "", letters);
    for (unsigned i = 0; i < 4; i++) {
        if (keys[i][0] == '\0')
            continue;
        text_printf(&text, "&%s=", names[i]);
        table_add_escaped(&text, keys[i]);
    }
    text_add_string(&text, "&sig=");
    table_add_escaped(&text, mac);
    draft->query = text_bytes(&text);
}

/* ---- stored policies. rest: Set-Table-ACL ---- */

static void write_acl(const struct table_ask *ask, struct arena *arena, struct draft *draft)
{
    struct text body;

    draft->path = arena_printf(arena, ACCOUNT_PATH "/%s", table_names[ask->table]);
    draft->query = bytes_from_string("comp=acl");
    draft->method = ask->op == TABLE_SET_ACL ? METHOD_PUT : METHOD_GET;
    draft->method_text = ask->op == TABLE_SET_ACL ? "PUT" : "GET";
    if (ask->op != TABLE_SET_ACL)
        return;
    text_init(&body, arena, 512);
    text_add_string(&body, "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>");
    for (unsigned i = 0; i < TABLE_POLICIES; i++) {
        if (ask->policies[i] > 0)
            text_printf(&body,
                        "<SignedIdentifier><Id>p%u</Id><AccessPolicy><Permission>%s</Permission>"
                        "</AccessPolicy></SignedIdentifier>",
                        i, table_letters[ask->policies[i]]);
    }
    text_add_string(&body, "</SignedIdentifiers>");
    draft->body = text_bytes(&body);
    add(draft, "content-type", bytes_from_string("application/xml"));
}

/* ---- batches. rest: Performing-Entity-Group-Transactions ---- */

static void add_part(struct text *text, const struct draft *part)
{
    text_printf(text,
                "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
                "%s http://127.0.0.1%.*s%s%.*s HTTP/1.1\r\n",
                part->method_text, BYTES_ARG(part->path), part->query.len > 0 ? "?" : "",
                BYTES_ARG(part->query));
    for (unsigned i = 0; i < part->header_count; i++)
        text_printf(text, "%s: %.*s\r\n", part->headers[i].name, BYTES_ARG(part->headers[i].value));
    text_add_string(text, "\r\n");
    text_add(text, part->body);
    text_add_string(text, "\r\n");
}

static void write_batch(const struct table_ask *ask, struct arena *arena, struct draft *draft)
{
    struct text text;

    text_init(&text, arena, 1024);
    text_add_string(&text, "--batch_1\r\n");
    if (ask->op == TABLE_BATCHED_QUERY) {
        struct draft part = { .header_count = 0 };

        write_query(ask, arena, &part);
        add_part(&text, &part);
    } else {
        text_add_string(&text, "Content-Type: " CHANGESET_TYPE "\r\n\r\n");
        for (unsigned i = 0; i < ask->count; i++) {
            struct draft part = { .header_count = 0 };

            write_change(ask->table, &ask->parts[i], arena, &part);
            text_add_string(&text, "--changeset_1\r\n");
            add_part(&text, &part);
        }
        text_add_string(&text, "--changeset_1--\r\n");
    }
    text_add_string(&text, "--batch_1--\r\n");
    draft->method = METHOD_POST;
    draft->method_text = "POST";
    draft->path = bytes_from_string(ACCOUNT_PATH "/$batch");
    draft->body = text_bytes(&text);
    add(draft, "content-type", bytes_from_string(BATCH_TYPE));
    add(draft, "accept", bytes_from_string(JSON));
}

/* ---- all of them ---- */

static void write_of_table(const struct table_ask *ask, struct arena *arena, struct draft *draft)
{
    const char *name = table_names[ask->table];

    draft->path = arena_printf(arena, ACCOUNT_PATH "/Tables('%s')", name);
    draft->method = ask->op == TABLE_GET ? METHOD_GET : METHOD_DELETE;
    draft->method_text = ask->op == TABLE_GET ? "GET" : "DELETE";
    add(draft, "accept", bytes_from_string(JSON));
    if (ask->op != TABLE_CREATE)
        return;
    draft->path = bytes_from_string(ACCOUNT_PATH "/Tables");
    draft->method = METHOD_POST;
    draft->method_text = "POST";
    draft->body = arena_printf(arena, "{\"TableName\":\"%s\"}", name);
    add(draft, "content-type", bytes_from_string("application/json"));
}

void table_request_write(const struct ask *ask, struct arena *arena, struct draft *ret_draft)
{
    const struct table_ask *table = &ask->table;

    *ret_draft = (struct draft){ .header_count = 0 };
    switch ((int)table->op) {
    case TABLE_CREATE:
    case TABLE_DROP:
    case TABLE_GET:
        write_of_table(table, arena, ret_draft);
        break;
    case TABLE_LIST:
    case TABLE_QUERY:
        write_query(table, arena, ret_draft);
        break;
    case TABLE_GET_ACL:
    case TABLE_SET_ACL:
        write_acl(table, arena, ret_draft);
        break;
    case TABLE_TRANSACTION:
    case TABLE_BATCHED_QUERY:
        write_batch(table, arena, ret_draft);
        break;
    default:
        write_change(table->table, &table->parts[0], arena, ret_draft);
        break;
    }
    if (table->sas.is_used)
        add_sas(table, arena, ret_draft);
}

void table_request_read_header(const struct http_header *header, struct reply *reply)
{
    const struct {
        const char *name;
        char *to;
    } tokens[] = {
        { "x-ms-continuation-nextpartitionkey", reply->table.partition },
        { "x-ms-continuation-nextrowkey", reply->table.row },
        { "x-ms-continuation-nexttablename", reply->table.table },
    };

    for (unsigned i = 0; i < 3; i++) {
        if (bytes_is_nocase(header->name, tokens[i].name))
            (void)snprintf(tokens[i].to, TABLE_TOKEN_SIZE, "%.*s", BYTES_ARG(header->value));
    }
    if (bytes_is_nocase(header->name, "etag")) {
        char text[80];

        (void)snprintf(text, sizeof text, "%.*s", BYTES_ARG(header->value));
        reply->etag = table_etag(text, strlen(text));
    }
}

void table_request_format(const struct ask *ask, char *to, size_t size)
{
    table_ask_format(&ask->table, to, size);
}
