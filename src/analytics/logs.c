/* Writes log blobs: <service>/YYYY/MM/DD/hhmm/<counter>.log in $logs, with metadata that describes
 * their contents. source: storage-analytics-logging "How logs are stored" */
#include <stdio.h>

#include "analytics/analytics_private.h"
#include "base/log.h"

#define BLOBS_AN_HOUR_MAX 1000000u

enum error logs_make(struct analytics *a, const struct account *account)
{
    struct arena *arena = arena_new_background(STEP_ARENA_MAX);
    struct internal_request asked = { .method = METHOD_PUT,
                                      .path = BYTES("$logs"),
                                      .query = BYTES("restype=container") };
    struct internal_response answer;
    enum error e = ask(a, account, "blob", arena, &asked, &answer);

    arena_free(arena);
    if (e == E_ContainerAlreadyExists)
        return OK;
    if (e)
        log_line(LOG_WARN, "cannot create the container $logs of account %.*s: %s",
                 BYTES_ARG(account_name(account)), error_code(e));
    return e;
}

/* Formats "2011-07-31T18:21:46Z". */
static struct bytes time_text(struct arena *arena, instant at)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(at, text);
    return arena_printf(arena, "%.19sZ", text);
}

static struct bytes kinds_text(struct arena *arena, unsigned kinds)
{
    static const char *const names[] = { "read", "write", "delete" };
    struct text text;

    text_init(&text, arena, 24);
    for (unsigned i = 0; i < 3; i++) {
        if (!(kinds & 1u << i))
            continue;
        if (text.len > 0)
            text_add_char(&text, ',');
        text_add_string(&text, names[i]);
    }
    return text_bytes(&text);
}

static struct bytes name_of(struct arena *arena, const struct monitored *w, unsigned number)
{
    char hour[INSTANT_ISO_SIZE];

    instant_format_iso(w->named_hour, hour);
    return arena_printf(arena, "$logs/%s/%.4s/%.2s/%.2s/%.2s00/%06u.log", w->service_name, hour,
                        hour + 5, hour + 8, hour + 11, number);
}

/* The lines as a request body. */
struct lines {
    struct gather_source source; /* must be first */
    struct bytes rest;
};

static enum error read_lines(struct gather_source *source, char *to, size_t max, size_t *ret_count)
{
    struct lines *lines = (struct lines *)(void *)source;

    *ret_count = lines->rest.len < max ? lines->rest.len : max;
    memcpy(to, lines->rest.ptr, *ret_count);
    lines->rest = bytes_from(lines->rest, *ret_count);
    return OK;
}

#define META(name) BYTES("x-ms-meta-" name)

static enum error put(struct analytics *a, struct monitored *w, struct arena *arena,
                      const struct log_part *part)
{
    const struct http_header headers[] = {
        { BYTES("x-ms-blob-type"), BYTES("BlockBlob"), BYTES("x-ms-blob-type") },
        { BYTES("if-none-match"), BYTES("*"), BYTES("If-None-Match") },
        { META("logtype"), kinds_text(arena, part->kinds), META("LogType") },
        { META("starttime"), time_text(arena, part->first), META("StartTime") },
        { META("endtime"), time_text(arena, part->last), META("EndTime") },
        { META("logversion"), bytes_from_string(part->version == 2 ? "2.0" : "1.0"),
          META("LogVersion") },
    };
    struct lines lines = {
        .source = { .read = read_lines, .length = part->length, .max = part->length },
        .rest = bytes_of(part->bytes, part->length),
    };
    struct internal_request asked = { .method = METHOD_PUT,
                                      .path = name_of(arena, w, w->next_number),
                                      .headers = headers,
                                      .header_count = sizeof headers / sizeof headers[0],
                                      .source = &lines.source };
    struct internal_response answer;

    return ask(a, w->account, "blob", arena, &asked, &answer);
}

/* After a start the first names of the hour are in use, so each is tried in turn. */
enum error logs_write(struct analytics *a, struct monitored *w, const struct log_part *part)
{
    struct arena *arena = arena_new_background(STEP_ARENA_MAX);
    struct arena_mark empty = arena_mark(arena);
    bool was_made = false;
    enum error e;

    if (w->named_hour != part->hour) {
        w->named_hour = part->hour;
        w->next_number = 0;
    }
    do {
        e = put(a, w, arena, part);
        arena_rewind(arena, empty);
        if (e == E_ContainerNotFound && !was_made) {
            was_made = true;
            e = logs_make(a, w->account);
            e = e ? e : E_BlobAlreadyExists;
        } else if (e == E_BlobAlreadyExists) {
            w->next_number++;
        }
    } while (e == E_BlobAlreadyExists && w->next_number < BLOBS_AN_HOUR_MAX);
    if (!e)
        w->next_number++;
    arena_free(arena);
    return e;
}
