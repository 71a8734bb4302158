/* Reads a JSON object with a fixed set of members, each at most once, described by table rows. For
 * files that people write, so errors are reported as sentences. Thread-safe. */
#ifndef LAGRA_BASE_JSON_ROWS_H
#define LAGRA_BASE_JSON_ROWS_H

#include "base/json.h"

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
 * returns  the position in the reader's text of a problem found here; else NULL */
const char *json_rows_read(struct json_reader *reader, const char *name,
                           const struct json_row *rows, size_t count, void *context,
                           const char **problem);

#endif
