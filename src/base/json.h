/* JSON (RFC 8259). The reader yields the members of one object or list in order, with numbers as
 * written; the writer formats strings like the Table service.
 *
 * (1) The reader builds no tree. Reading takes time proportional to the text for each level that
 *     the caller enters, and memory only for names and strings with escapes, whose unescaped form
 *     is shorter.
 * (2) The text must be exactly one UTF-8 value, nested at most `depth` levels.
 * Thread-safe. */
#ifndef LAGRA_BASE_JSON_H
#define LAGRA_BASE_JSON_H

#include "base/arena.h"

enum json_kind {
    JSON_ABSENT, /* json_object_pick(): no such member */
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_OBJECT,
    JSON_LIST,
};

struct json_member {
    struct bytes name; /* unescaped UTF-8; duplicates are not detected. ptr NULL in a list */
    enum json_kind kind;
    /* JSON_STRING: unescaped, may contain NUL; JSON_NUMBER, JSON_OBJECT, JSON_LIST: as written */
    struct bytes text;
    const char *at; /* start of the member in the reader's text */
};

/* Returns the maximum arena size needed to read an entire text once, including names and
 * strings. */
static inline size_t json_memory_max(struct bytes text)
{
    return 16 * text.len + (64u << 10);
}

/* Maximum nesting depth of objects and lists; scalars have depth 0. */
#define JSON_DEPTH_MAX 32u

struct json_reader {
    struct arena *arena;
    struct bytes text;
    size_t at;
    unsigned depth; /* allowed depth of the members */
    char end;       /* closing bracket */
    bool begun, ended;
    bool bad; /* malformed: the reader has stopped */
};
/* Starts reading one object or list whose values are nested at most `depth` levels (up to
 * JSON_DEPTH_MAX). Strings with escapes are unescaped into the arena; others point into the
 * text. */
void json_object_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                      unsigned depth);
void json_list_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                    unsigned depth);
/* Reads the next member. Returns false at the end or on a syntax error, which sets `bad`. */
bool json_next(struct json_reader *reader, struct json_member *ret_member);

/* Reads an entire object and returns the members with the given `count` names, in the order of the
 * names; others are skipped. Returns false if the text is not such an object or has one of the
 * names twice. */
bool json_object_pick(struct arena *arena, struct bytes text, unsigned depth,
                      const char *const names[], size_t count, struct json_member *ret_members);

/* Returns the text of a non-empty string; ptr NULL for all other values. */
struct bytes json_text(const struct json_member *member);
/* Parses a number of at most 32 characters as a double. Returns false if it is not a number, is
 * longer or overflows. */
bool json_number(const struct json_member *member, double *ret_value);

/* Writes objects and lists member by member, adding commas. Names are static and need no
 * escaping. */
struct json_writer {
    struct text *to;
    bool follows; /* needs a comma before the next member */
};
/* Start an object ('{') or a list ('['), and end it ('}', ']'). Inside an object, call
 * json_write_name() first. */
void json_write_begin(struct json_writer *writer, char bracket);
void json_write_end(struct json_writer *writer, char bracket);
void json_write_name(struct json_writer *writer, const char *name);
/* Write a member of an object. */
void json_write_member(struct json_writer *writer, const char *name, struct bytes text);
void json_write_number(struct json_writer *writer, const char *name, uint64_t number);
void json_write_bool(struct json_writer *writer, const char *name, bool is_true);

/* Writes UTF-8 text as a quoted string; everything except printable ASCII becomes \uxxxx, as in the
 * real service. */
void json_write_string(struct text *out, struct bytes text);
/* Like json_write_string(), but without the quotes, for strings built from several parts. */
void json_write_text(struct text *out, struct bytes text);

/* Reads a JSON object with a fixed set of members, each at most once, described by table rows.
 * Meant for files that people write, so errors are reported as sentences. Thread-safe. */

struct json_row {
    const char *name;
    void (*read)(void *context, const char *name, const struct json_member *member);
};
#define JSON_ROWS_MAX 32u

/* Calls read() of the matching row for each member, in the order of the text, while *problem is
 * NULL.
 *
 * reader   at the start of the object
 * name     name of the object for messages: "match"
 * problem  set by read(), or here, in the reader's arena: `match has no member "x"`
 * returns  position in the reader's text of a problem found by this function, else NULL */
const char *json_rows_read(struct json_reader *reader, const char *name,
                           const struct json_row *rows, size_t count, void *context,
                           const char **problem);

#endif
