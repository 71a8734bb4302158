/* Output and progress of `lagra check`, as lines for people or one JSON object per line for
 * scripts. Used by one thread. Internal to check/. */
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
/* Prints a sentence. The caller must escape names that come from stored data. */
void check_report(enum check_finding kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print part of a sentence, which check_report() completes. name: not yet escaped */
void check_report_part(const char *format, ...) __attribute__((format(printf, 1, 2)));
void check_report_name(struct bytes name);

/* Advance the progress by one record, or by this many bytes of data. */
void check_report_record(void);
void check_report_bytes(uint64_t bytes);
/* Starts the progress of the second pass. bytes: total size of all content */
void check_report_second_pass(uint64_t bytes);
struct check_total {
    const char *what, *in; /* "blobs", "containers" */
    uint64_t count, in_count;
};
/* Prints the totals. Called last. */
void check_report_totals(const struct check_total *totals, size_t count, uint64_t findings);

#endif
