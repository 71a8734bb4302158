/* Inside of program/ only: what `lagra check` says: lines for people, or objects of JSON, a line each, for scripts; and how
 * far it is. One thread. */
#ifndef LAGRA_CHECK_REPORT_H
#define LAGRA_CHECK_REPORT_H

#include "base/arena.h"

enum check_said { SAID_DAMAGED, SAID_LOST, SAID_FOUND, SAID_PUT_OFF, SAID_UNREACHABLE };

/* Before all others. json: as a script reads it. */
void check_say_begin(bool json);
/* One sentence. Names from outside are made visible by the caller. */
void check_say(enum check_said kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same in parts: say() ends what part() and name() have begun. name: from outside. */
void check_say_part(const char *format, ...) __attribute__((format(printf, 1, 2)));
void check_say_name(struct bytes name);

/* How far it is: shown on a terminal, and to scripts. One record more; so many bytes of contents more. */
void check_say_record(void);
void check_say_bytes(uint64_t bytes);
/* All records have been visited once, and now come again. bytes: of all contents */
void check_say_again(uint64_t bytes);
struct check_total {
    const char *what, *in; /* "blobs", "containers" */
    uint64_t count, in_count;
};
/* Last. */
void check_say_totals(const struct check_total *totals, size_t count, uint64_t findings);

#endif
