/* Internal to check/: output of `lagra check`, as lines for people or one JSON object per line for
 * scripts, and its progress. One thread. */
#ifndef LAGRA_CHECK_REPORT_H
#define LAGRA_CHECK_REPORT_H

#include "base/arena.h"

enum check_finding {
    FINDING_DAMAGED,
    FINDING_LOST,
    FINDING_ADOPTED,
    FINDING_TASK,
    FINDING_UNREACHABLE
};

/* Starts the output; called first. json: print JSON */
void check_report_begin(bool json);
/* Prints a sentence. The caller has escaped names from outside. */
void check_report(enum check_finding kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print a part of a sentence, which check_report() finishes. name: unescaped */
void check_report_part(const char *format, ...) __attribute__((format(printf, 1, 2)));
void check_report_name(struct bytes name);

/* Advance the progress by one record, or by this many bytes of data. */
void check_report_record(void);
void check_report_bytes(uint64_t bytes);
/* Starts the second pass over all records. bytes: size of all contents */
void check_report_second_pass(uint64_t bytes);
struct check_total {
    const char *what, *in; /* "blobs", "containers" */
    uint64_t count, in_count;
};
/* Prints the totals; called last. */
void check_report_totals(const struct check_total *totals, size_t count, uint64_t findings);

#endif
