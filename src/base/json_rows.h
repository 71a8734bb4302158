/* An object of JSON whose members are known, each of them once at most: a row for each. For what people write, so
 * what is wrong is said in words. Any thread. */
#ifndef LAGRA_BASE_JSON_ROWS_H
#define LAGRA_BASE_JSON_ROWS_H

#include "base/json.h"

struct json_row {
    const char *name;
    void (*read)(void *context, const char *name, const struct json_member *member);
};
#define JSON_ROWS_MAX 32u

/* Calls read() of the row of each member, in their order in the text, while *problem is NULL.
 *
 * reader   of the object, at its begin
 * name     of the object, for sentences: "match"
 * problem  set by read(), or here, in the reader's arena: `match has no member "x"`
 * returns  where in the reader's text that is which was said here; else NULL */
const char *json_rows_read(struct json_reader *reader, const char *name,
                           const struct json_row *rows, size_t count, void *context,
                           const char **problem);

#endif
