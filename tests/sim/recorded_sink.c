/* See recorded_sink.h. */
#include "recorded_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analytics/analytics_private.h"
#include "scheduler.h"

#define EVENTS_MAX 16384u
#define TABLES_MAX 8u
#define JSON_MAX   8000u
#define ID_FIELD   13u /* of a line: the id of the request */
#define MS_SLACK   0.1 /* sums of averages are not exact */

struct recorded_event {
    struct guid request;
    instant ended;
    uint64_t at_ns;
    uint64_t hash;  /* of its lines */
    unsigned lines; /* 0 if it is not logged */
    uint64_t written_hash;
    unsigned written;
    bool is_taken, is_counted;
    bool is_sure; /* in the logs as recorded */
    struct tally tally;
};

struct log_blob {
    struct log_blob *next;
    char name[80];
};

struct entity {
    struct entity *next;
    char table[56], key[20], row[72];
    uint64_t etag;
    char json[JSON_MAX];
};

/* Totals of hours or of minutes. */
enum { HOURS, MINUTES, TOTALS };
static const char *const prefixes[TOTALS] = { "$MetricsHourPrimaryTransactions",
                                              "$MetricsMinutePrimaryTransactions" };

/* In the world. */
struct recorded {
    struct recorded_event events[EVENTS_MAX];
    size_t count;
    size_t first;           /* of this life */
    size_t counted[TOTALS]; /* next event that the totals do not contain */
    uint64_t last_ns;       /* something happened */
    uint64_t failed_ns;     /* a request failed */
    bool has_logs;
    struct log_blob *blobs;
    char tables[TABLES_MAX][56];
    struct entity *entities;
    uint64_t etag;
};

static bool is_calm;

static struct recorded *recorded(void)
{
    world->recorded->last_ns = world->now_ns;
    return world->recorded;
}

/* ---- events ---- */

static uint64_t hash_line(uint64_t hash, struct bytes line)
{
    hash = world_mix(hash ^ line.len);
    for (size_t i = 0; i < line.len; i++)
        hash = (hash ^ (unsigned char)line.ptr[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* Takes a line, with its end. */
static struct bytes take_line(struct bytes *lines)
{
    const char *end = memchr(lines->ptr, '\n', lines->len);
    struct bytes line;

    if (!end)
        world_fail("a log ends inside a line");
    line = bytes_of(lines->ptr, (size_t)(end + 1 - lines->ptr));
    *lines = bytes_from(*lines, line.len);
    return line;
}

size_t sink_record(const struct analytics_event *event, struct bytes lines)
{
    struct recorded *r = recorded();
    struct recorded_event *to = &r->events[r->count];

    if (r->count == EVENTS_MAX)
        world_fail("more than %u requests are recorded", EVENTS_MAX);
    *to = (struct recorded_event){ .request = event->request,
                                   .ended = event->ended,
                                   .at_ns = world->now_ns,
                                   .is_counted = event->is_counted };
    tally_count(&to->tally, event);
    for (; lines.len > 0; to->lines++)
        to->hash = hash_line(to->hash, take_line(&lines));
    return r->count++;
}

void sink_taken(size_t index, bool is_sure)
{
    recorded()->events[index].is_taken = true;
    recorded()->events[index].is_sure = is_sure;
}

static bool is_written(const struct recorded_event *event)
{
    return event->written == event->lines && event->written_hash == event->hash;
}

static void check_written(const struct recorded_event *event)
{
    char id[GUID_TEXT_SIZE];

    if (!event->is_sure || is_written(event))
        return;
    guid_format(&event->request, id);
    world_fail("the request %s has %u lines in the logs instead of %u", id, event->written,
               event->lines);
}

void sink_begin_life(uint64_t late_ns)
{
    struct recorded *r;

    if (!world->recorded) {
        world->recorded = world_alloc(sizeof *world->recorded);
        world->recorded->etag = 1;
    }
    r = world->recorded;
    for (size_t i = r->first; i < r->count; i++) {
        uint64_t since_ns = r->events[i].at_ns > r->failed_ns ? r->events[i].at_ns : r->failed_ns;

        if (since_ns + late_ns < r->last_ns)
            check_written(&r->events[i]);
    }
    r->first = r->counted[HOURS] = r->counted[MINUTES] = r->count;
    is_calm = false;
}

void sink_calm(void)
{
    is_calm = true;
}

void sink_check_all(size_t answered, bool in_hours, bool in_minutes)
{
    struct recorded *r = recorded();
    const bool is_on[TOTALS] = { in_hours, in_minutes };

    if (r->count - r->first < answered)
        world_fail("%zu of %zu requests are recorded", r->count - r->first, answered);
    for (size_t i = r->first; i < r->count; i++) {
        if (!r->events[i].is_taken)
            world_fail("an event was not taken");
        check_written(&r->events[i]);
        for (unsigned t = 0; t < TOTALS; t++)
            if (is_on[t] && r->events[i].is_counted && i >= r->counted[t])
                world_fail("a request is not in the table %s..", prefixes[t]);
    }
}

/* ---- log blobs ---- */

/* Cuts a line at semicolons outside of quotes. */
static struct bytes field_of(struct bytes line, unsigned number)
{
    bool is_quoted = false;
    size_t from = 0;

    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '"')
            is_quoted = !is_quoted;
        if (is_quoted || (line.ptr[i] != ';' && line.ptr[i] != '\n'))
            continue;
        if (number-- == 0)
            return bytes_of(line.ptr + from, i - from);
        from = i + 1;
    }
    world_fail("a line of a log has too few fields: %.*s", BYTES_ARG(line));
}

static struct recorded_event *event_of(struct bytes line)
{
    struct recorded *r = recorded();
    struct bytes text = field_of(line, ID_FIELD);
    struct guid id;

    if (!guid_parse(text, &id))
        world_fail("a line of a log has no request id: %.*s", BYTES_ARG(line));
    for (size_t i = r->first; i < r->count; i++)
        if (guid_equal(&r->events[i].request, &id) && r->events[i].written < r->events[i].lines)
            return &r->events[i];
    world_fail("a line of a log is of no request, or there twice: %.*s", BYTES_ARG(line));
}

static struct bytes header_of(const struct internal_request *asked, const char *name)
{
    for (size_t i = 0; i < asked->header_count; i++)
        if (bytes_is(asked->headers[i].name, name))
            return asked->headers[i].value;
    world_fail("a log has no header %s", name);
}

/* The metadata has whole seconds. */
static void check_time(const struct internal_request *asked, struct bytes line)
{
    struct bytes at = field_of(line, 1), first = header_of(asked, "x-ms-meta-starttime"),
                 last = header_of(asked, "x-ms-meta-endtime");

    if (at.len < 19 || first.len < 19 || last.len < 19 || memcmp(at.ptr, first.ptr, 19) < 0 ||
        memcmp(at.ptr, last.ptr, 19) > 0)
        world_fail("a line of %.*s is in a log from %.*s to %.*s", BYTES_ARG(at), BYTES_ARG(first),
                   BYTES_ARG(last));
}

/* "$logs/queue/2026/11/29/1700/000000.log" has the requests that ended in this hour. */
static void check_hour(struct bytes name, instant ended)
{
    char at[INSTANT_ISO_SIZE], hour[20];

    instant_format_iso(ended, at);
    snprintf(hour, sizeof hour, "/%.4s/%.2s/%.2s/%.2s00/", at, at + 5, at + 8, at + 11);
    if (!memmem(name.ptr, name.len, hour, strlen(hour)))
        world_fail("a request that ended at %s is in %.*s", at, BYTES_ARG(name));
}

static void check_lines(const struct internal_request *asked, struct bytes lines)
{
    while (lines.len > 0) {
        struct bytes line = take_line(&lines);
        struct recorded_event *event = event_of(line);

        event->written++;
        event->written_hash = hash_line(event->written_hash, line);
        check_time(asked, line);
        check_hour(asked->path, event->ended);
    }
}

static struct bytes read_source(struct arena *arena, struct gather_source *source)
{
    char *to = arena_array(arena, (size_t)source->length + 1, 1);
    size_t length = 0, more;

    do {
        if (source->read(source, to + length, (size_t)source->length + 1 - length, &more))
            world_fail("the lines of a log cannot be read");
        length += more;
    } while (more > 0);
    return bytes_of(to, length);
}

static enum error put_log(struct arena *arena, const struct internal_request *asked,
                          struct bytes name)
{
    struct recorded *r = recorded();
    struct log_blob *blob;

    if (!r->has_logs)
        return E_ContainerNotFound;
    for (blob = r->blobs; blob; blob = blob->next)
        if (bytes_is(name, blob->name))
            return E_BlobAlreadyExists;
    blob = world_alloc(sizeof *blob);
    snprintf(blob->name, sizeof blob->name, "%.*s", BYTES_ARG(name));
    blob->next = r->blobs;
    r->blobs = blob;
    check_lines(asked, read_source(arena, asked->source));
    return OK;
}

static enum error make_logs(void)
{
    struct recorded *r = recorded();

    if (r->has_logs)
        return E_ContainerAlreadyExists;
    r->has_logs = true;
    return OK;
}

/* ---- tables ---- */

static bool has_table(struct bytes name)
{
    for (unsigned i = 0; i < TABLES_MAX; i++)
        if (bytes_is(name, recorded()->tables[i]))
            return true;
    return false;
}

static enum error make_table(struct bytes name)
{
    unsigned i = 0;

    if (has_table(name))
        return E_TableAlreadyExists;
    while (recorded()->tables[i][0])
        if (++i == TABLES_MAX)
            world_fail("analytics creates too many tables");
    snprintf(recorded()->tables[i], sizeof recorded()->tables[i], "%.*s", BYTES_ARG(name));
    return OK;
}

static struct entity *find_entity(const struct entity *like)
{
    struct entity *at = recorded()->entities;

    while (at && (strcmp(at->table, like->table) != 0 || strcmp(at->key, like->key) != 0 ||
                  strcmp(at->row, like->row) != 0))
        at = at->next;
    return at;
}

static void read_tally(struct arena *arena, const struct entity *entity, struct tally *ret_tally)
{
    *ret_tally = (struct tally){ .ingress = 0 };
    if (entity && !tally_read(arena, bytes_from_string(entity->json), ret_tally))
        world_fail("an entity of the metrics is malformed: %s", entity->json);
}

static void set_json(struct entity *entity, struct bytes json)
{
    if (json.len >= sizeof entity->json)
        world_fail("an entity of the metrics has %zu bytes", json.len);
    memcpy(entity->json, json.ptr, json.len);
    entity->json[json.len] = '\0';
    entity->etag = ++recorded()->etag;
}

static bool differs(double left, double right)
{
    double by = left > right ? left - right : right - left;

    return by > MS_SLACK + left * 1e-6;
}

static uint64_t requests_of(const struct tally *tally)
{
    uint64_t sum = 0;

    for (unsigned o = 0; o < ANALYTICS_OUTCOMES; o++)
        for (unsigned w = 0; w < ANALYTICS_WHO; w++)
            sum += tally->counts[o][w];
    return sum;
}

/* Adds the next events to the stored totals, as many as were added. */
static void add_events(struct tally *tally, uint64_t requests, unsigned which)
{
    struct recorded *r = recorded();

    while (requests_of(tally) < requests) {
        const struct recorded_event *event = &r->events[r->counted[which]];

        if (r->counted[which]++ == r->count)
            world_fail("the table %s.. counts requests that do not exist", prefixes[which]);
        if (!event->is_counted)
            continue;
        tally->ingress += event->tally.ingress;
        tally->egress += event->tally.egress;
        tally->e2e_ms += event->tally.e2e_ms;
        tally->server_ms += event->tally.server_ms;
        for (unsigned o = 0; o < ANALYTICS_OUTCOMES; o++)
            for (unsigned w = 0; w < ANALYTICS_WHO; w++)
                tally->counts[o][w] += event->tally.counts[o][w];
    }
}

/* Compares the new totals of all user requests with the old ones and the requests since. */
static void check_totals(struct arena *arena, const struct entity *old, const struct entity *new)
{
    struct tally expected, found;
    unsigned which = HOURS;

    while (which < TOTALS && strncmp(new->table, prefixes[which], strlen(prefixes[which])) != 0)
        which++;
    if (which == TOTALS || strcmp(new->row, "user;All") != 0)
        return;
    read_tally(arena, old, &expected);
    read_tally(arena, new, &found);
    add_events(&expected, requests_of(&found), which);
    if (memcmp(expected.counts, found.counts, sizeof found.counts) != 0 ||
        expected.ingress != found.ingress || expected.egress != found.egress ||
        differs(expected.e2e_ms, found.e2e_ms) || differs(expected.server_ms, found.server_ms))
        world_fail("%s %s: %" PRIu64 " requests, ingress %" PRIu64 " and not %" PRIu64
                   ", egress %" PRIu64 " and not %" PRIu64 ", %.3f ms and not %.3f ms, or others",
                   new->table, new->key, requests_of(&found), found.ingress, expected.ingress,
                   found.egress, expected.egress, found.e2e_ms, expected.e2e_ms);
}

/* The owner of another cell adds to the same entity. decision: 1105 */
static void add_others(struct arena *arena, struct entity *entity)
{
    struct tally tally;

    if (is_calm || world_draw(STREAM_SYSTEM, 6) > 0)
        return;
    read_tally(arena, entity, &tally);
    tally.ingress += 1000;
    tally.e2e_ms += 7;
    tally.counts[OUTCOME_SUCCESS][WHO_SAS]++;
    set_json(entity, tally_write(arena, &tally));
}

static enum error put_entity(struct arena *arena, const struct entity *like,
                             const struct internal_request *asked)
{
    struct entity *old = find_entity(like), *new;
    struct bytes condition = { NULL, 0 };

    for (size_t i = 0; i < asked->header_count; i++)
        if (bytes_is(asked->headers[i].name, "if-match"))
            condition = asked->headers[i].value;
    if (!has_table(bytes_from_string(like->table)))
        return E_TableNotFound;
    if (old && condition.ptr)
        add_others(arena, old);
    if (condition.ptr &&
        (!old || !bytes_equal(condition, arena_printf(arena, "%" PRIu64, old->etag))))
        return old ? E_UpdateConditionNotSatisfied : E_ResourceNotFound;
    if (old && asked->method == METHOD_POST)
        return E_EntityAlreadyExists;
    new = world_alloc(sizeof *new);
    *new = *like;
    set_json(new, asked->body);
    check_totals(arena, old, new);
    if (old) {
        set_json(old, asked->body);
        world_free(new, sizeof *new);
    } else {
        new->next = recorded()->entities;
        recorded()->entities = new;
    }
    return OK;
}

static enum error get_entity(struct arena *arena, const struct entity *like,
                             struct internal_response *ret_answer)
{
    const struct entity *entity = find_entity(like);

    if (!entity)
        return has_table(bytes_from_string(like->table)) ? E_ResourceNotFound : E_TableNotFound;
    response_header(&ret_answer->response, bytes_from_string("ETag"),
                    arena_printf(arena, "%" PRIu64, entity->etag));
    ret_answer->response.body_kind = BODY_BYTES;
    ret_answer->response.body = arena_copy(arena, bytes_from_string(entity->json));
    return OK;
}

/* Copies what is between two texts; the first one is removed from *text. */
static void take_between(struct bytes *text, const char *before, const char *after, char *to,
                         size_t size)
{
    const char *from = memmem(text->ptr, text->len, before, strlen(before)), *end = NULL;

    if (from) {
        *text = bytes_from(*text, (size_t)(from - text->ptr) + strlen(before));
        end = memmem(text->ptr, text->len, after, strlen(after));
    }
    if (!end || (size_t)(end - text->ptr) >= size)
        world_fail("analytics sends a request that makes no sense: %.*s", BYTES_ARG(*text));
    memcpy(to, text->ptr, (size_t)(end - text->ptr));
    to[end - text->ptr] = '\0';
}

static void decode_row(char *row)
{
    char *at = strstr(row, "%3B");

    if (at) {
        *at = ';';
        memmove(at + 1, at + 3, strlen(at + 3) + 1);
    }
}

static enum error ask_table(struct arena *arena, const struct internal_request *asked,
                            struct internal_response *ret_answer)
{
    struct entity like = { .etag = 0 };
    struct bytes path = asked->path, body = asked->body;
    bool is_insert = asked->method == METHOD_POST;

    if (bytes_is(path, "Tables")) {
        take_between(&body, "\"TableName\":\"", "\"", like.table, sizeof like.table);
        return make_table(bytes_from_string(like.table));
    }
    if (is_insert) {
        snprintf(like.table, sizeof like.table, "%.*s", BYTES_ARG(path));
        take_between(&body, "\"PartitionKey\":\"", "\"", like.key, sizeof like.key);
        take_between(&body, "\"RowKey\":\"", "\"", like.row, sizeof like.row);
        return put_entity(arena, &like, asked);
    }
    take_between(&path, "", "(", like.table, sizeof like.table);
    take_between(&path, "PartitionKey='", "'", like.key, sizeof like.key);
    take_between(&path, "RowKey='", "'", like.row, sizeof like.row);
    decode_row(like.row);
    if (asked->method == METHOD_GET)
        return get_entity(arena, &like, ret_answer);
    return put_entity(arena, &like, asked);
}

/* ---- all requests ---- */

__typeof__(event_log_lost) __wrap_event_log_lost;
void __wrap_event_log_lost(enum event_log log, size_t count, const char *why)
{
    (void)log;
    world_fail("Storage Analytics has lost %zu events: %s", count, why);
}

/* Somebody deletes the logs. */
static void meddle(void)
{
    if (!is_calm && world_draw(STREAM_SYSTEM, 40) == 0)
        recorded()->has_logs = false;
}

__typeof__(ask) __wrap_ask;
enum error __wrap_ask(struct analytics *a, const struct account *account, const char *service,
                      struct arena *arena, struct internal_request *asked,
                      struct internal_response *ret_answer)
{
    bool is_blob = strcmp(service, "blob") == 0;

    (void)a;
    (void)account;
    *ret_answer = (struct internal_response){ .error = OK };
    response_init(&ret_answer->response, arena);
    if (world_draw(STREAM_SYSTEM, 2) == 0)
        sched_sleep(world_draw(STREAM_SYSTEM, 200) * UINT64_C(1000000));
    meddle();
    sched_hold();
    if (is_blob && !is_calm && world_draw(STREAM_SYSTEM, 5) == 0) {
        recorded()->failed_ns = world->now_ns;
        ret_answer->error = E_ServerBusy;
    } else if (!is_blob) {
        ret_answer->error = ask_table(arena, asked, ret_answer);
    } else if (bytes_is(asked->path, "$logs")) {
        ret_answer->error = make_logs();
    } else {
        ret_answer->error = put_log(arena, asked, asked->path);
    }
    sched_release();
    return ret_answer->error;
}
