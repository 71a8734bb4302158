/* Deletes log blobs and metric entities past their retention period. Log blobs are found by name,
 * entities by key. Each interval deletes at most one page.
 * rest: Setting-a-Storage-Analytics-Data-Retention-Policy */
#include "analytics/analytics_private.h"
#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "base/xml.h"

#define XML_LIMITS ((struct xml_limits){ .depth_max = 16, .nodes_max = 100000 })
#define PAGE       "1000"

/* Interval between two checks, by which data may exceed its retention period. */
#define LOOK_TICKS (3600 * TICKS_PER_SECOND)

/* Returns true if everything expired was deleted. */
typedef bool expire_fn(struct analytics *a, struct monitored *w, struct arena *arena,
                       instant before);

/* ---- logs ---- */

static bool delete_blob(struct analytics *a, struct monitored *w, struct arena *arena,
                        struct bytes name)
{
    static const struct http_header headers[] = {
        { BYTES("x-ms-delete-snapshots"), BYTES("include"), BYTES("x-ms-delete-snapshots") },
    };
    struct internal_request asked = { .method = METHOD_DELETE,
                                      .headers = headers,
                                      .header_count = 1 };
    struct internal_response answer;
    enum error e;

    asked.path = arena_printf(arena, "$logs/%.*s", BYTES_ARG(percent_encode(arena, name, "/")));
    e = ask(a, w->account, "blob", arena, &asked, &answer);
    return !e || e == E_BlobNotFound;
}

/* Names of logs sort by hour. */
static bool expire_logs(struct analytics *a, struct monitored *w, struct arena *arena,
                        instant before)
{
    struct internal_request asked = { .method = METHOD_GET, .path = BYTES("$logs") };
    const struct xml_node *root, *blobs;
    char hour[INSTANT_ISO_SIZE];
    struct internal_response answer;
    struct xml_error problem;
    struct bytes first_kept;
    size_t count = 0;

    instant_format_iso(before, hour);
    first_kept = arena_printf(arena, "%s/%.4s/%.2s/%.2s/%.2s00/", w->service_name, hour, hour + 5,
                              hour + 8, hour + 11);
    asked.query = arena_printf(
        arena, "restype=container&comp=list&maxresults=" PAGE "&prefix=%s%%2F", w->service_name);
    if (ask(a, w->account, "blob", arena, &asked, &answer))
        return true;
    root = xml_parse(arena, answer.response.body, XML_LIMITS, &problem);
    blobs = root ? xml_child(root, "Blobs") : NULL;
    for (const struct xml_node *at = blobs ? blobs->first_child : NULL; at; at = at->next) {
        const struct xml_node *name = xml_child(at, "Name");

        if (!name || bytes_compare(name->text, first_kept) >= 0)
            return true;
        if (!delete_blob(a, w, arena, name->text))
            return true;
        count++;
    }
    return count == 0;
}

/* ---- metrics ---- */

static void delete_entity(struct analytics *a, struct monitored *w, struct arena *arena,
                          const char *table, const struct json_member keys[2])
{
    static const struct http_header headers[] = {
        { BYTES("if-match"), BYTES("*"), BYTES("If-Match") },
        { BYTES("accept"), BYTES("application/json;odata=nometadata"), BYTES("accept") },
    };
    struct internal_request asked = { .method = METHOD_DELETE,
                                      .headers = headers,
                                      .header_count = 2 };
    struct internal_response answer;

    asked.path = arena_printf(arena, "%s(PartitionKey='%.*s',RowKey='%.*s')", table,
                              BYTES_ARG(percent_encode(arena, keys[0].text, "")),
                              BYTES_ARG(percent_encode(arena, keys[1].text, "")));
    ask(a, w->account, "table", arena, &asked, &answer);
}

static bool expire_entities(struct analytics *a, struct monitored *w, struct arena *arena,
                            const char *table, instant before)
{
    static const struct http_header headers[] = {
        { BYTES("accept"), BYTES("application/json;odata=nometadata"), BYTES("accept") },
    };
    static const char *const value = "value", *const names[] = { "PartitionKey", "RowKey" };
    struct internal_request asked = { .method = METHOD_GET, .headers = headers, .header_count = 1 };
    struct json_member member, keys[2];
    struct internal_response answer;
    struct json_reader reader;
    char text[INSTANT_ISO_SIZE];
    size_t count = 0;

    instant_format_iso(before, text);
    asked.path = arena_printf(arena, "%s()", table);
    asked.query = arena_printf(arena,
                               "$top=" PAGE "&$select=PartitionKey,RowKey&$filter=PartitionKey"
                               "%%20lt%%20'%.4s%.2s%.2sT%.2s%.2s'",
                               text, text + 5, text + 8, text + 11, text + 14);
    if (ask(a, w->account, "table", arena, &asked, &answer) ||
        !json_object_pick(arena, answer.response.body, 4, &value, 1, &member) ||
        member.kind != JSON_LIST)
        return true;
    json_list_init(&reader, arena, member.text, 2);
    while (json_next(&reader, &member)) {
        if (json_object_pick(arena, member.text, 2, names, 2, keys))
            delete_entity(a, w, arena, table, keys);
        count++;
    }
    return count == 0;
}

static bool expire_metrics(struct analytics *a, struct monitored *w, struct arena *arena,
                           const char *kind, instant before)
{
    struct bytes table = arena_printf(arena, "$Metrics%sPrimaryTransactions%c%s", kind,
                                      w->service_name[0] - 'a' + 'A', w->service_name + 1);

    return expire_entities(a, w, arena, arena_string(arena, table), before);
}

static bool expire_hours(struct analytics *a, struct monitored *w, struct arena *arena,
                         instant before)
{
    bool is_done = expire_metrics(a, w, arena, "Hour", before);

    if (strcmp(w->service_name, "blob") == 0)
        is_done &= expire_entities(a, w, arena, "$MetricsCapacityBlob", before);
    return is_done;
}

static bool expire_minutes(struct analytics *a, struct monitored *w, struct arena *arena,
                           instant before)
{
    return expire_metrics(a, w, arena, "Minute", before);
}

/* ---- policies ---- */

void retention_apply(struct analytics *a, struct monitored *w, instant now)
{
    const struct {
        uint32_t days;
        expire_fn *expire;
    } policies[] = { { w->logging.retention_days, expire_logs },
                     { w->hour.retention_days, expire_hours },
                     { w->minute.retention_days, expire_minutes } };
    bool is_done = true;

    if (w->expired_until != 0 && now < w->expired_until + LOOK_TICKS && now >= w->expired_until)
        return;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        struct arena *arena;

        if (policies[i].days == 0 || now < policies[i].days * TICKS_PER_DAY)
            continue;
        arena = arena_new_background(4 * STEP_ARENA_MAX);
        is_done &= policies[i].expire(a, w, arena, now - policies[i].days * TICKS_PER_DAY);
        arena_free(arena);
    }
    if (is_done)
        w->expired_until = now;
}
