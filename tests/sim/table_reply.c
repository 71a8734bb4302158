/* See table_reply.h. rest: Payload-Format-for-Table-Service-Operations */
#include "table_reply.h"

#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "times.h"

/* ---- JSON that is flat ---- */

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* A text or a bare value. NULL: neither. */
static const char *read_value(const char *at, struct table_text *ret_value)
{
    const char *end = at;

    if (*at == '"') {
        for (end = at + 1; *end != '"'; end++) {
            if (*end == '\0' || (*end == '\\' && *++end == '\0'))
                return NULL;
        }
        end++;
    } else {
        end += strcspn(at, ",}] \r\n");
    }
    *ret_value = (struct table_text){ .ptr = at, .len = (size_t)(end - at) };
    return end > at ? end : NULL;
}

static bool text_is(struct table_text text, const char *wanted)
{
    size_t len = strlen(wanted);

    return text.len == len + 2 && text.ptr[0] == '"' && memcmp(text.ptr + 1, wanted, len) == 0;
}

static int find_text(struct table_text text, const char *const *texts, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (text_is(text, texts[i]))
            return (int)i;
    }
    return -1;
}

/* ---- times ---- */

/* Zeros at the end of a fraction are not written. */
static uint64_t read_time(const char *text, size_t size)
{
    static const char whole[] = "2026-11-22T07:14:31";
    char plain[40], full[60];
    size_t used = 0;

    for (size_t i = 0; i < size && used < 34; i++) {
        if (size - i > 2 && strncmp(text + i, "%3A", 3) == 0) {
            plain[used++] = ':';
            i += 2;
        } else {
            plain[used++] = text[i];
        }
    }
    if (used < sizeof whole || plain[used - 1] != 'Z')
        return 0;
    plain[used - 1] = '\0';
    if (used == sizeof whole)
        (void)snprintf(full, sizeof full, "%s.0000000Z", plain);
    else
        (void)snprintf(full, sizeof full, "%s%.*sZ", plain, (int)(sizeof whole + 8 - used),
                       "0000000");
    return times_ticks(full);
}

uint64_t table_etag(const char *text, size_t size)
{
    static const char begin[] = "datetime'";
    const char *at = size > 4 && strncmp(text, "W/", 2) == 0 ? strstr(text, begin) : NULL;
    const char *end = at ? strchr(at + sizeof begin - 1, '\'') : NULL;

    if (!end || end > text + size)
        return 0;
    at += sizeof begin - 1;
    return read_time(at, (size_t)(end - at));
}

/* ---- entities ---- */

struct reading {
    struct table_shown *shown;
    int partition, row;
    uint64_t time;
    bool has_time;
};

static const char *take_property(struct reading *reading, struct table_text name,
                                 struct table_text value)
{
    static const char *const names[TABLE_PROPERTIES] = { "A", "B", "C", "D" };
    static const char *const types[TABLE_PROPERTIES] = { "A@odata.type", "B@odata.type",
                                                         "C@odata.type", "D@odata.type" };
    int at = find_text(name, names, TABLE_PROPERTIES);

    if (at >= 0) {
        reading->shown->values[at] = value;
        return NULL;
    }
    at = find_text(name, types, TABLE_PROPERTIES);
    if (at >= 0) {
        reading->shown->types[at] = value;
    } else if (text_is(name, "odata.etag")) {
        reading->shown->etag = table_etag(value.ptr + 1, value.len - 1);
        return reading->shown->etag == 0 ? "an entity with an ETag of another form" : NULL;
    } else if (text_is(name, "PartitionKey")) {
        reading->partition = find_text(value, table_partitions_json, TABLE_PARTITIONS);
        if (reading->partition < 0)
            reading->partition = find_text(value, table_partitions, TABLE_PARTITIONS);
    } else if (text_is(name, "RowKey")) {
        reading->row = find_text(value, table_rows, TABLE_ROWS);
    } else if (text_is(name, "Timestamp")) {
        reading->has_time = true;
        reading->time = read_time(value.ptr + 1, value.len - 2);
    } else if (!text_is(name, "odata.metadata")) {
        return "an entity with a property that nobody gave it";
    }
    return NULL;
}

/* *at is at its brace, and behind it then. */
static const char *read_entity(const char **at, struct table_shown *ret_shown)
{
    struct reading reading = { .shown = ret_shown, .partition = -2, .row = -2 };
    const char *end = *at + 1;

    *ret_shown = (struct table_shown){ .place = -1 };
    while (*(end = skip_space(end)) != '}') {
        struct table_text name, value;
        const char *wrong;

        end = read_value(end, &name);
        if (!end || *end != ':')
            return "no JSON";
        end = read_value(skip_space(end + 1), &value);
        if (!end)
            return "no JSON";
        wrong = take_property(&reading, name, value);
        if (wrong)
            return wrong;
        end = skip_space(end);
        end += *end == ',';
    }
    *at = end + 1;
    if (reading.partition == -1 || reading.row == -1)
        return "an entity with keys that nobody gave it";
    if (reading.partition >= 0 && reading.row >= 0)
        ret_shown->place = reading.partition * (int)TABLE_ROWS + reading.row;
    ret_shown->time_differs = reading.has_time && reading.time != ret_shown->etag;
    return NULL;
}

const char *table_read_entity(const char *text, struct table_shown *ret_shown)
{
    return *text == '{' ? read_entity(&text, ret_shown) : "no JSON";
}

const char *table_read_page(const char *text, struct table_shown shown[TABLE_SHOWN_MAX],
                            unsigned *ret_count)
{
    static const char list[] = "\"value\":[";
    const char *at = strstr(text, list), *wrong;

    *ret_count = 0;
    if (!at)
        return "no list";
    for (at += sizeof list - 1; *(at = skip_space(at)) == '{'; at += *at == ',') {
        if (*ret_count == TABLE_SHOWN_MAX)
            return "more entities than there are";
        wrong = read_entity(&at, &shown[(*ret_count)++]);
        if (wrong)
            return wrong;
        at = skip_space(at);
    }
    return *at == ']' ? NULL : "a list without an end";
}

const char *table_read_tables(const char *text, unsigned *ret_tables)
{
    static const char begin[] = "\"TableName\":";
    const char *at = text;

    *ret_tables = 0;
    while ((at = strstr(at, begin))) {
        struct table_text name;
        int number;

        at = read_value(at + sizeof begin - 1, &name);
        number = at ? find_text(name, table_names, TABLES) : -1;
        if (number < 0 || *ret_tables >> number != 0)
            return "a table that nobody made, or out of order";
        *ret_tables |= 1u << number;
    }
    return NULL;
}

/* ---- parts of a batch ---- */

/* "" without it. begin: of its line, "\r\nName: " */
static void read_header(const char *head, const char *begin, char *to, size_t size)
{
    const char *at = strstr(head, begin);

    to[0] = '\0';
    if (at)
        (void)snprintf(to, size, "%.*s", (int)strcspn(at + strlen(begin), "\r"),
                       at + strlen(begin));
}

static void read_part(const char *from, const char *end, struct table_part *part)
{
    static const char code[] = "\r\n\r\n{\"odata.error\":{\"code\":\"", message[] = "\"value\":\"";
    char head[1024], etag[80];
    const char *at;

    (void)snprintf(head, sizeof head, "%.*s", (int)(end - from), from);
    *part =
        (struct table_part){ .status = (int)strtol(head, NULL, 10), .number = -1, .body = end + 4 };
    if (strncmp(end, code, sizeof code - 1) == 0)
        (void)snprintf(part->code, sizeof part->code, "%.*s",
                       (int)strcspn(end + sizeof code - 1, "\""), end + sizeof code - 1);
    read_header(head, "\r\nx-ms-continuation-NextPartitionKey: ", part->tokens.partition,
                sizeof part->tokens.partition);
    read_header(head, "\r\nx-ms-continuation-NextRowKey: ", part->tokens.row,
                sizeof part->tokens.row);
    read_header(head, "\r\nETag: ", etag, sizeof etag);
    part->etag = etag[0] ? table_etag(etag, strlen(etag)) : 0;
    at = part->status >= 400 ? strstr(part->body, message) : NULL;
    if (at && at[sizeof message - 1] >= '0' && at[sizeof message - 1] <= '9')
        part->number = (int)strtol(at + sizeof message - 1, NULL, 10);
}

const char *table_read_parts(const char *text, struct table_part parts[TABLE_PARTS_MAX],
                             unsigned *ret_count)
{
    static const char line[] = "\r\n\r\nHTTP/1.1 ";
    const char *at = strstr(text, line);

    *ret_count = 0;
    while (at) {
        const char *end = strstr(at + sizeof line - 1, "\r\n\r\n");

        if (!end || *ret_count == TABLE_PARTS_MAX)
            return "a batch's answer that is not of that form";
        read_part(at + sizeof line - 1, end, &parts[(*ret_count)++]);
        at = strstr(end + 1, line);
    }
    return *ret_count > 0 ? NULL : "a batch's answer without parts";
}

/* ---- tokens: "1!4!Yidj" ---- */

int table_token_key(const char *token, const char *const *keys, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        size_t size = strlen(keys[i]);
        char text[40] = "", whole[60];

        base64_encode_raw(text, size, (const uint8_t *)keys[i]);
        for (char *c = text; *c; c++)
            *c = (char)(*c == '=' ? '-' : *c == '/' ? '_' : *c == '+' ? '*' : *c);
        (void)snprintf(whole, sizeof whole, "1!%zu!%s", strlen(text), text);
        if (strcmp(token, whole) == 0)
            return (int)i;
    }
    return -1;
}
