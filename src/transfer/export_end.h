/* Internal to transfer/. The mark of an export that was written to its end: complete.json, with the lines of its two other files.
 * decision: 910 */
#ifndef LAGRA_TRANSFER_EXPORT_END_H
#define LAGRA_TRANSFER_EXPORT_END_H

#include <stdint.h>

#include "transfer/run.h"

#define EXPORT_ACCOUNT  "account.jsonl"
#define EXPORT_CONTENTS "contents.jsonl"

struct export_lines {
    uint64_t account, contents;
};

/* Counts the lines of the folder, and writes the mark. Reports a failure. */
bool export_end_write(struct worker *worker, int folder);
/* Compares the mark with the lines that were read. Reports a folder that has none, or too few lines. */
bool export_end_check(struct worker *worker, int folder, const struct export_lines *read);

#endif
