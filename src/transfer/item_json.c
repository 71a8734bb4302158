/* Items as lines of JSON, the format of an export (docs/import.md). */
#include "transfer/item.h"

#include "base/encode.h"
#include "base/json.h"

#define LINE_DEPTH 6u

/* ---- writing ---- */

/* name: static. A value with ptr NULL is omitted. */
static bool write_text(struct json_writer *out, const char *name, struct bytes value)
{
    if (value.ptr)
        json_write_member(out, name, value);
    return !value.ptr || bytes_is_utf8(value);
}

static bool write_headers(struct json_writer *out, const struct header_list *headers)
{
    bool good = true;

    json_write_name(out, "headers");
    json_write_begin(out, '{');
    for (size_t i = 0; i < headers->count; i++) {
        good = good && bytes_is_utf8(headers->of[i].name) && bytes_is_utf8(headers->of[i].value);
        if (i > 0)
            text_add_char(out->to, ',');
        json_write_string(out->to, headers->of[i].name);
        text_add_char(out->to, ':');
        json_write_string(out->to, headers->of[i].value);
    }
    json_write_end(out, '}');
    return good;
}

static void write_ranges(struct json_writer *out, const struct item_ranges *ranges)
{
    json_write_name(out, "ranges");
    json_write_begin(out, '[');
    for (size_t i = 0; i < ranges->count; i++) {
        if (i > 0)
            text_add_char(out->to, ',');
        text_add_u64(out->to, ranges->of[i].at);
        text_add_char(out->to, ',');
        text_add_u64(out->to, ranges->of[i].length);
    }
    json_write_end(out, ']');
}

static bool write_state(struct json_writer *out, const struct item *item)
{
    bool good = write_headers(out, &item->headers);

    if (item->place.ptr) {
        json_write_number(out, "size", item->size);
        good &= write_text(out, "file", item->place);
    }
    if (item->ranges.count > 0)
        write_ranges(out, &item->ranges);
    if (item->has_md5)
        json_write_member(out, "md5",
                          base64_encode(out->to->arena, bytes_of(item->md5, sizeof item->md5)));
    if (item->is_sealed)
        json_write_bool(out, "sealed", true);
    return good;
}

bool item_write_json(struct text *to, const struct item *item)
{
    struct json_writer out = { .to = to };
    bool good = true;

    json_write_begin(&out, '{');
    json_write_member(&out, "kind", bytes_from_string(item_kind_names[item->kind]));
    good &= write_text(&out, "parent", item->parent);
    good &= write_text(&out, "name", item->name);
    good &= write_text(&out, "date", item->date);
    good &= write_text(&out, "body", item->body);
    json_write_name(&out, "states");
    json_write_begin(&out, '[');
    for (; item; item = item->next) {
        struct json_writer state = { .to = to };

        json_write_begin(&state, '{');
        good &= write_state(&state, item);
        json_write_end(&state, '}');
        if (item->next)
            text_add_char(to, ',');
    }
    json_write_end(&out, ']');
    json_write_end(&out, '}');
    return good;
}

/* ---- parsing ---- */

enum { KIND, PARENT, NAME, DATE, BODY, STATES, MEMBERS };
static const char *const members[MEMBERS] = { "kind", "parent", "name", "date", "body", "states" };
enum { HEADERS, SIZE, FILE_NAME, RANGES, MD5, SEALED, STATE_MEMBERS };
static const char *const state_members[STATE_MEMBERS] = { "headers", "size", "file",
                                                          "ranges",  "md5",  "sealed" };

/* Returns the string; an empty one is not NULL. */
static struct bytes text_of(const struct json_member *member)
{
    if (member->kind != JSON_STRING)
        return (struct bytes){ NULL, 0 };
    return member->text.len > 0 ? member->text : bytes_from_string("");
}

static bool read_headers(struct arena *arena, struct item *item, const struct json_member *headers)
{
    struct json_reader reader;
    struct json_member member;

    if (headers->kind == JSON_ABSENT)
        return true;
    json_object_init(&reader, arena, headers->text, 1);
    while (headers->kind == JSON_OBJECT && json_next(&reader, &member)) {
        if (member.kind != JSON_STRING)
            return false;
        item_header(arena, item, member.name, text_of(&member));
    }
    return headers->kind == JSON_OBJECT && !reader.bad;
}

static bool read_ranges(struct arena *arena, struct item *item, const struct json_member *ranges)
{
    struct json_reader reader;
    struct json_member at, length;

    if (ranges->kind == JSON_ABSENT)
        return true;
    json_list_init(&reader, arena, ranges->text, 0);
    while (ranges->kind == JSON_LIST && json_next(&reader, &at)) {
        uint64_t first, bytes;

        if (!json_next(&reader, &length) || !bytes_parse_u64(at.text, UINT64_MAX, &first) ||
            !bytes_parse_u64(length.text, UINT64_MAX, &bytes) ||
            !item_ranges_add(arena, &item->ranges, first, bytes, item->size))
            return false;
    }
    return ranges->kind == JSON_LIST && !reader.bad;
}

static bool read_state(struct arena *arena, struct bytes text, struct item *item)
{
    struct json_member of[STATE_MEMBERS];
    struct bytes md5;

    if (!json_object_pick(arena, text, LINE_DEPTH, state_members, STATE_MEMBERS, of))
        return false;
    if (of[SIZE].kind != JSON_ABSENT && !bytes_parse_u64(of[SIZE].text, UINT64_MAX, &item->size))
        return false;
    item->place = text_of(&of[FILE_NAME]);
    item->is_sealed = of[SEALED].kind == JSON_TRUE;
    md5 = base64_decode(arena, of[MD5].kind == JSON_STRING ? of[MD5].text : bytes_of("", 0));
    item->has_md5 = md5.ptr && md5.len == sizeof item->md5;
    if (item->has_md5)
        memcpy(item->md5, md5.ptr, sizeof item->md5);
    return read_headers(arena, item, &of[HEADERS]) && read_ranges(arena, item, &of[RANGES]);
}

static bool read_kind(struct bytes text, enum item_kind *ret_kind)
{
    for (unsigned i = 0; i < ITEM_KINDS; i++) {
        if (text.ptr && bytes_is(text, item_kind_names[i])) {
            *ret_kind = i;
            return true;
        }
    }
    return false;
}

/* All states have the name, date and body of the last one. */
static struct item *read_states(struct arena *arena, const struct json_member *states,
                                const struct item *common)
{
    struct item *first = NULL, **to = &first;
    struct json_reader reader;
    struct json_member member;

    json_list_init(&reader, arena, states->text, LINE_DEPTH);
    while (json_next(&reader, &member)) {
        struct item *item = arena_alloc(arena, sizeof *item);

        *item = *common;
        if (member.kind != JSON_OBJECT || !read_state(arena, member.text, item))
            return NULL;
        *to = item;
        to = &item->next;
    }
    return reader.bad ? NULL : first;
}

struct item *item_read_json(struct arena *arena, struct bytes line, const char **ret_problem)
{
    struct json_member of[MEMBERS];
    struct item common = { .size = 0 }, *item;

    *ret_problem = "it is not an object with \"kind\" and \"states\"";
    if (!json_object_pick(arena, line, LINE_DEPTH, members, MEMBERS, of) ||
        of[STATES].kind != JSON_LIST)
        return NULL;
    *ret_problem = "unknown kind";
    if (!read_kind(text_of(&of[KIND]), &common.kind))
        return NULL;
    common.parent = text_of(&of[PARENT]);
    common.name = text_of(&of[NAME]);
    common.date = text_of(&of[DATE]);
    common.body = text_of(&of[BODY]);
    *ret_problem = "it has no parent";
    if (common.parent.len == 0)
        return NULL;
    *ret_problem = "one of its states cannot be read";
    item = read_states(arena, &of[STATES], &common);
    *ret_problem = item ? NULL : *ret_problem;
    return item;
}
