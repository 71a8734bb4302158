/* JSON (RFC 8259): one object or list is read member by member, in their order and with numbers as
 * they were written; strings are written as the Table service does.
 *
 * (1) Nothing is built of a text: the caller keeps what it needs. Reading takes time in
 *     proportion to the text for each level that is entered, and no memory but for names and texts
 *     with escapes, whose unescaped form is shorter than they are.
 * (2) The whole of the text is the one value, in UTF-8, with values in one another no deeper than
 *     was asked for.
 * Any thread. */
#ifndef LAGRA_BASE_JSON_H
#define LAGRA_BASE_JSON_H

#include "base/arena.h"

enum json_kind {
    JSON_ABSENT, /* of json_object_pick(): there is no such member */
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_OBJECT,
    JSON_LIST,
};

struct json_member {
    struct bytes name; /* unescaped, UTF-8; what repeats is given again. Of a list: ptr NULL */
    enum json_kind kind;
    /* JSON_STRING: unescaped, it may hold NUL; JSON_NUMBER, JSON_OBJECT, JSON_LIST: as written */
    struct bytes text;
    const char *at; /* where it begins in the reader's text */
};

/* The most that an arena is asked for while all of a text is read once, names and texts included. */
static inline size_t json_memory_max(struct bytes text)
{
    return 16 * text.len + (64u << 10);
}

/* Levels that a value of an object or list may have: 0 are scalars. */
#define JSON_DEPTH_MAX 32u

struct json_reader {
    struct arena *arena;
    struct bytes text;
    size_t at;
    unsigned depth; /* of its members */
    char end;       /* the bracket that ends it */
    bool begun, ended;
    bool bad; /* it is not such a value: the reader has stopped */
};
/* The text is one object, or one list, whose values have at most `depth` levels (JSON_DEPTH_MAX at
 * most). arena: texts with escapes are unescaped there; others point into the text. */
void json_object_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                      unsigned depth);
void json_list_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                    unsigned depth);
/* returns false at the end, or when it has become bad */
bool json_next(struct json_reader *reader, struct json_member *ret_member);

/* Reads all of an object and returns its members of `count` names, in the order of the names; others
 * are passed over.
 *
 * returns false for what is no such object, and when one of the names is there twice */
bool json_object_pick(struct arena *arena, struct bytes text, unsigned depth,
                      const char *const names[], size_t count, struct json_member *ret_members);

/* The text of a string that is not empty; ptr NULL for all else. */
struct bytes json_text(const struct json_member *member);
/* The value of a number of at most 32 characters that a double can be near to; false for all
 * else. */
bool json_number(const struct json_member *member, double *ret_value);

/* Objects and lists member by member: the writer sets the commas. Names are static and need no escape. */
struct json_writer {
    struct text *to;
    bool follows; /* a member stands before the next one */
};
/* Begins an object ('{') or a list ('['), and ends it ('}', ']'). As a member of an object: behind
 * json_write_name(). */
void json_write_begin(struct json_writer *writer, char bracket);
void json_write_end(struct json_writer *writer, char bracket);
void json_write_name(struct json_writer *writer, const char *name);
/* A member of an object. */
void json_write_member(struct json_writer *writer, const char *name, struct bytes text);
void json_write_number(struct json_writer *writer, const char *name, uint64_t number);
void json_write_bool(struct json_writer *writer, const char *name, bool is_true);

/* The UTF-8 text in quotes; all that is not printable ASCII as \uxxxx, as recorded. */
void json_write_string(struct text *out, struct bytes text);
/* The same without the quotes: a string of several parts. */
void json_write_text(struct text *out, struct bytes text);

#endif
