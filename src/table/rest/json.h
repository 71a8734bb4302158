/* JSON (RFC 8259) as the bodies of the Table service have it: objects of scalars read member by
 * member, in their order and with numbers as they were written, and strings written as the
 * service does. Inside the table room only. Any thread. */
#ifndef LAGRA_TABLE_REST_JSON_H
#define LAGRA_TABLE_REST_JSON_H

#include "base/arena.h"

enum json_kind { JSON_STRING, JSON_NUMBER, JSON_TRUE, JSON_FALSE, JSON_NULL };

struct json_member {
    struct bytes name; /* unescaped, UTF-8, as all texts; what repeats is given again */
    enum json_kind kind;
    struct bytes text; /* JSON_STRING: unescaped; JSON_NUMBER: as written */
};

/* One object, which is all of the text. Objects and arrays within it are refused. */
struct json_object {
    struct arena *arena;
    struct bytes text;
    size_t at;
    bool begun, ended;
    bool bad; /* it is no such object: the reader has stopped */
};
/* arena: texts with escapes are unescaped there; others point into the text. */
void json_object_init(struct json_object *object, struct arena *arena, struct bytes text);
/* returns false at the end, or when it has become bad */
bool json_object_next(struct json_object *object, struct json_member *ret_member);

/* The UTF-8 text in quotes; all that is not printable ASCII as \uxxxx, as recorded. */
void json_write_string(struct text *out, struct bytes text);
/* The same without the quotes: a string of several parts. */
void json_write_text(struct text *out, struct bytes text);

#endif
