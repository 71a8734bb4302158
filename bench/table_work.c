/* Requests to the Table service: see work.h. */
#include "work.h"

#include <inttypes.h>
#include <stdio.h>

#define TRANSACTION_SIZE 100u
/* Of a part of a body, up to the entity or its text: more than any needs. */
#define HEAD_MAX         1024u
/* Row keys are numbers of one length, so their order is that of the numbers. */
#define ROW_FIRST        UINT64_C(100000000)

/* ---- entities ---- */

static unsigned partition_of(const struct work_options *options, uint64_t k)
{
    return (unsigned)(k / TRANSACTION_SIZE % options->partitions);
}

/* One of the first `count`; far apart from turn to turn, so that connections seldom meet in a
 * partition. */
static uint64_t entity_of(uint64_t n, uint64_t count)
{
    return n * 7919 % count;
}

static void entity_path(const struct work_options *options, uint64_t k, struct draft *draft)
{
    snprintf(draft->path, sizeof draft->path, "%s(PartitionKey='p%u',RowKey='%" PRIu64 "')",
             options->container, partition_of(options, k), ROW_FIRST + k);
}

/* Letters and digits that do not repeat soon: neither side's compression finds much in them. */
static void fill_text(char *to, size_t length)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    uint64_t state = 88172645463325252u;

    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        to[i] = letters[state >> 58];
    }
}

/* Writes the JSON of entity k; prefix: of its row key. Returns the end. */
static char *write_entity(const struct work_options *options, uint64_t k, const char *prefix,
                          char *to)
{
    static char text[ROOM_BYTES / TRANSACTION_SIZE / 2];
    size_t room = options->size < sizeof text ? options->size : sizeof text;
    char *begin = to;

    if (text[0] == '\0')
        fill_text(text, sizeof text);
    to += snprintf(to, HEAD_MAX,
                   "{\"PartitionKey\":\"p%u\",\"RowKey\":\"%s%" PRIu64 "\",\"Count\":%u,"
                   "\"Price\":%u.25,\"Open\":true,\"Total@odata.type\":\"Edm.Int64\","
                   "\"Total\":\"%" PRIu64 "\",\"When@odata.type\":\"Edm.DateTime\","
                   "\"When\":\"2026-03-04T05:06:07.1234567Z\",\"Text\":\"",
                   partition_of(options, k), prefix, ROW_FIRST + k, (unsigned)(k % 1000),
                   (unsigned)(k % 10000), k * 1000003);
    if ((size_t)(to - begin) + 2 < room) {
        size_t length = room - (size_t)(to - begin) - 2;

        memcpy(to, text, length);
        to += length;
    }
    return stpcpy(to, "\"}");
}

/* ---- requests ---- */

static void make_table_request(struct draft *draft, const char *method)
{
    draft->method = method;
    draft->of_table = true;
    draft->others[0] = (struct pair){ "Accept", "application/json;odata=minimalmetadata" };
    draft->others[1] = (struct pair){ "DataServiceVersion", "3.0" };
    if (strcmp(method, "GET") != 0)
        draft->content_type = "application/json";
}

static void set_body(const struct work_options *options, const struct worker *worker, uint64_t k,
                     const char *prefix, struct draft *draft)
{
    char *end = write_entity(options, k, prefix, worker->room);

    draft->body = bytes_of(worker->room, (size_t)(end - worker->room));
}

void draft_entity_get(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft)
{
    (void)worker;
    make_table_request(draft, "GET");
    entity_path(options, entity_of(n, options->names), draft);
}

/* A new entity with each turn of each run. */
void draft_entity_insert(const struct work_options *options, const struct worker *worker,
                         uint64_t n, struct draft *draft)
{
    char run[32];

    snprintf(run, sizeof run, "i%u-", options->run);
    make_table_request(draft, "POST");
    draft->others[2] = (struct pair){ "Prefer", "return-no-content" };
    snprintf(draft->path, sizeof draft->path, "%s", options->container);
    set_body(options, worker, entity_of(n, ROW_FIRST), run, draft);
}

void draft_entity_put(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft)
{
    uint64_t k = entity_of(n, options->names);

    make_table_request(draft, "PUT");
    entity_path(options, k, draft);
    set_body(options, worker, k, "", draft);
}

/* Turn 0 upserts the connection's own entity; each later one replaces it if the ETag is the
 * last. */
void draft_entity_replace(const struct work_options *options, const struct worker *worker,
                          uint64_t n, struct draft *draft)
{
    uint64_t k = worker->number * TRANSACTION_SIZE;

    (void)n;
    make_table_request(draft, "PUT");
    entity_path(options, k, draft);
    set_body(options, worker, k, "", draft);
    if (worker->done > 0)
        draft->if_match = worker->etag;
}

/* A page by a range of row keys within one partition, from the first half of them on: whole if a
 * partition has twice as many as a page. */
void draft_entity_page(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft)
{
    static _Thread_local char filter[128];
    uint64_t k = entity_of(n, options->names / 2);

    (void)worker;
    make_table_request(draft, "GET");
    snprintf(draft->path, sizeof draft->path, "%s()", options->container);
    snprintf(filter, sizeof filter, "PartitionKey eq 'p%u' and RowKey ge '%" PRIu64 "'",
             partition_of(options, k), ROW_FIRST + k);
    draft->query[0] = (struct pair){ "$filter", filter };
    draft->query[1] = (struct pair){ "$top", "1000" };
}

/* ---- transactions: hundred n, modulo those that there are, upserted as a changeset ---- */

void draft_transaction(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft)
{
    uint64_t hundreds = options->names / TRANSACTION_SIZE, first = n % hundreds * TRANSACTION_SIZE;
    char *to = stpcpy(worker->room,
                      "--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n");
    char entity[ROOM_BYTES / TRANSACTION_SIZE];

    for (uint64_t k = first; k < first + TRANSACTION_SIZE; k++) {
        size_t length = (size_t)(write_entity(options, k, "", entity) - entity);

        to +=
            snprintf(to, HEAD_MAX,
                     "--changeset_c\r\nContent-Type: application/http\r\n"
                     "Content-Transfer-Encoding: binary\r\n\r\n"
                     "PUT http://127.0.0.1/devstoreaccount1/%s(PartitionKey='p%u',RowKey='%" PRIu64
                     "') HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\n"
                     "Content-Type: application/json\r\nDataServiceVersion: 3.0\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     options->container, partition_of(options, k), ROW_FIRST + k, length);
        memcpy(to, entity, length);
        to = stpcpy(to + length, "\r\n");
    }
    to = stpcpy(to, "--changeset_c--\r\n--batch_b--\r\n");
    make_table_request(draft, "POST");
    draft->content_type = "multipart/mixed; boundary=batch_b";
    snprintf(draft->path, sizeof draft->path, "$batch");
    draft->body = bytes_of(worker->room, (size_t)(to - worker->room));
}
