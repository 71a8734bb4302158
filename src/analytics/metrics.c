/* Stores totals as entities of the $Metrics.. tables: adds new counts to the values of an hour or a
 * minute. The totals of an hour exist from its first minute on.
 * rest: Storage-Analytics-Metrics-Table-Schema; decision: 513 */
#include <stdio.h>

#include "analytics/analytics_private.h"
#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"

/* Enough attempts even if many owners change the entity at the same time. */
#define ATTEMPTS_MAX 32u

static const struct http_header json_headers[] = {
    { BYTES("content-type"), BYTES("application/json"), BYTES("content-type") },
    { BYTES("accept"), BYTES("application/json;odata=nometadata"), BYTES("accept") },
};

/* Returns the table's name, ending in "Blob" etc. */
static struct bytes table_name(struct arena *arena, const struct metrics_place *place)
{
    const char *service = place->monitored->service_name;

    return arena_printf(arena, "%s%c%s", place->table, service[0] - 'a' + 'A', service + 1);
}

static enum error make_table(struct analytics *a, struct arena *arena,
                             const struct metrics_place *place)
{
    struct internal_request asked = {
        .method = METHOD_POST, .path = BYTES("Tables"), .headers = json_headers, .header_count = 2
    };
    struct internal_response answer;
    enum error e;

    asked.body =
        arena_printf(arena, "{\"TableName\":\"%.*s\"}", BYTES_ARG(table_name(arena, place)));
    e = ask(a, place->monitored->account, "table", arena, &asked, &answer);
    return e == E_TableAlreadyExists ? OK : e;
}

/* Formats "20110809T0800". */
static struct bytes key_of(struct arena *arena, instant at)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(at, text);
    return arena_printf(arena, "%.4s%.2s%.2sT%.2s%.2s", text, text + 5, text + 8, text + 11,
                        text + 14);
}

static enum error ask_entity(struct analytics *a, struct arena *arena,
                             const struct metrics_place *place, struct bytes row,
                             struct internal_request *asked, struct internal_response *ret_answer)
{
    asked->path = arena_printf(
        arena, "%.*s(PartitionKey='%.*s',RowKey='%.*s')", BYTES_ARG(table_name(arena, place)),
        BYTES_ARG(key_of(arena, place->at)), BYTES_ARG(percent_encode(arena, row, "")));
    if (asked->header_count == 0) {
        asked->headers = json_headers;
        asked->header_count = 2;
    }
    return ask(a, place->monitored->account, "table", arena, asked, ret_answer);
}

/* Adds the stored values to the tally, if there are any.
 *
 * ret_etag  of the entity; ptr NULL if it does not exist */
static enum error read_stored(struct analytics *a, struct arena *arena,
                              const struct metrics_place *place, struct bytes row,
                              struct tally *tally, struct bytes *ret_etag)
{
    struct internal_request asked = { .method = METHOD_GET };
    const struct http_header *etag;
    struct internal_response answer;
    enum error e = ask_entity(a, arena, place, row, &asked, &answer);

    *ret_etag = bytes_of(NULL, 0);
    if (e == E_TableNotFound || e == E_ResourceNotFound)
        return OK;
    if (e)
        return e;
    etag = response_find_header(&answer.response, bytes_from_string("ETag"));
    if (!etag)
        return E_InternalError;
    *ret_etag = etag->value;
    if (!tally_read(arena, answer.response.body, tally))
        log_line(LOG_WARN, "an entity of table %.*s is not a valid metrics entity: replaced",
                 BYTES_ARG(table_name(arena, place)));
    return OK;
}

enum error metrics_find(struct analytics *a, struct arena *arena, const struct metrics_place *place,
                        struct bytes row)
{
    struct internal_request asked = { .method = METHOD_GET };
    struct internal_response answer;

    return ask_entity(a, arena, place, row, &asked, &answer);
}

enum error metrics_put(struct analytics *a, struct arena *arena, const struct metrics_place *place,
                       struct bytes row, struct bytes json)
{
    struct internal_request asked = { .method = METHOD_PUT, .body = json };
    struct internal_response answer;
    enum error e = ask_entity(a, arena, place, row, &asked, &answer);

    if (e != E_TableNotFound)
        return e;
    e = make_table(a, arena, place);
    asked = (struct internal_request){ .method = METHOD_PUT, .body = json };
    return e ? e : ask_entity(a, arena, place, row, &asked, &answer);
}

/* Replaces the entity with this ETag. */
static enum error replace(struct analytics *a, struct arena *arena,
                          const struct metrics_place *place, struct bytes row, struct bytes json,
                          struct bytes etag)
{
    const struct http_header headers[] = { json_headers[0],
                                           json_headers[1],
                                           { BYTES("if-match"), etag, BYTES("If-Match") } };
    struct internal_request asked = {
        .method = METHOD_PUT, .body = json, .headers = headers, .header_count = 3
    };
    struct internal_response answer;

    return ask_entity(a, arena, place, row, &asked, &answer);
}

/* Creates the entity, and its table. */
static enum error insert(struct analytics *a, struct arena *arena,
                         const struct metrics_place *place, struct bytes row, struct bytes json)
{
    struct internal_request asked = { .method = METHOD_POST,
                                      .path = table_name(arena, place),
                                      .headers = json_headers,
                                      .header_count = 2 };
    struct internal_response answer;
    enum error e;

    asked.body = arena_printf(arena, "{\"PartitionKey\":\"%.*s\",\"RowKey\":\"%.*s\",%.*s",
                              BYTES_ARG(key_of(arena, place->at)), BYTES_ARG(row),
                              BYTES_ARG(bytes_from(json, 1)));
    e = ask(a, place->monitored->account, "table", arena, &asked, &answer);
    if (e != E_TableNotFound)
        return e;
    e = make_table(a, arena, place);
    asked.path = table_name(arena, place);
    return e ? e : ask(a, place->monitored->account, "table", arena, &asked, &answer);
}

/* Adds to the stored values, which the owners of other cells change too. */
static void add(struct analytics *a, const struct metrics_place *place, struct bytes row,
                const struct tally *more)
{
    struct arena *arena = arena_new_background(STEP_ARENA_MAX);
    enum error e = E_ServerBusy;
    bool was_changed = true;

    for (unsigned i = 0; i < ATTEMPTS_MAX && was_changed; i++) {
        struct tally tally = *more;
        struct bytes etag, json;

        e = read_stored(a, arena, place, row, &tally, &etag);
        if (e)
            break;
        json = tally_write(arena, &tally);
        e = etag.ptr ? replace(a, arena, place, row, json, etag)
                     : insert(a, arena, place, row, json);
        was_changed = e == E_EntityAlreadyExists || (e && error_status(e) == 412);
    }
    arena_free(arena);
    if (e)
        event_log_lost(EVENTS_ANALYTICS, 1, error_code(e));
}

/* ---- an interval ---- */

static void add_all(struct analytics *a, const struct metrics_place *place,
                    const struct analytics_metrics *metrics, const struct collected *collected)
{
    if (!metrics->enabled)
        return;
    for (const struct api_tally *at = collected->tallies; at; at = at->next) {
        char row[ANALYTICS_NAME_SIZE + 16];
        int length =
            snprintf(row, sizeof row, "%s;%s", at->is_system ? "system" : "user", at->name);

        if (metrics->includes_apis || strcmp(at->name, "All") == 0)
            add(a, place, bytes_of(row, (size_t)length), &at->tally);
    }
}

static instant begin_of(instant at, uint64_t seconds)
{
    return at - at % (seconds * TICKS_PER_SECOND);
}

void metrics_write(struct analytics *a, struct monitored *w, const struct collected *collected)
{
    struct metrics_place minute = { "$MetricsMinutePrimaryTransactions",
                                    begin_of(collected->tallied, 60), w };
    struct metrics_place hour = { "$MetricsHourPrimaryTransactions",
                                  begin_of(collected->tallied, 3600), w };

    add_all(a, &minute, &collected->minute, collected);
    add_all(a, &hour, &collected->hour, collected);
}

/* "statistics summarizing all requested API operations are written to a table entity every hour
 * even if no requests were made to the service". source: storage-analytics-metrics */
void metrics_finish_hours(struct analytics *a, struct monitored *w, instant now)
{
    static const struct tally none = { .ingress = 0 };
    instant hour = begin_of(now, 3600);
    struct metrics_place last = { "$MetricsHourPrimaryTransactions", hour - 3600 * TICKS_PER_SECOND,
                                  w };
    bool is_over = w->summed_until != 0 && w->summed_until < hour;

    w->summed_until = hour;
    if (is_over && w->hour.enabled)
        add(a, &last, bytes_from_string("user;All"), &none);
}
