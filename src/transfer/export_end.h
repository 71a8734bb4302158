/* Internal to transfer/. The mark of a complete export: complete.json, with the number of lines of
 * its two other files. decision: 910 */
#ifndef LAGRA_TRANSFER_EXPORT_END_H
#define LAGRA_TRANSFER_EXPORT_END_H

#include <stdint.h>

#include "transfer/run.h"

#define EXPORT_ACCOUNT  "account.jsonl"
#define EXPORT_CONTENTS "contents.jsonl"

struct export_lines {
    uint64_t account, contents;
};

/* Counts the lines of the directory's files, and writes the mark. Reports errors. */
bool export_end_write(struct worker *worker, int folder);
/* Compares the mark with the lines that were read. Reports a missing mark, or missing lines. */
bool export_end_check(struct worker *worker, int folder, const struct export_lines *read);

#endif
