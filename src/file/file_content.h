/* Changes to a file's data: its content (content.h) and the lengths that its share counts. Each
 * function changes *file, which the caller writes. A decision may call only one of them, once,
 * because they read the state from before the decision. They clear the copy properties.
 * rest: Get-File-Properties "x-ms-copy-id" */
#ifndef LAGRA_FILE_FILE_CONTENT_H
#define LAGRA_FILE_FILE_CONTENT_H

#include "file/file.h"

/* Clearing frees whole units of this size and overwrites the rest with zeros.
 * rest: Put-Range "x-ms-write: clear" */
#define FILE_UNIT_BYTES 512u

/* Writes to the subject within its length. Returns OK, E_InvalidRange: beyond the end;
 * E_PendingCopyOperation; as decision_fail_content(). */
enum error file_write_bytes(struct decision *d, struct file *file, uint64_t offset,
                            const struct body *body);
/* Like file_write_bytes(), but extends the file if the range ends beyond its length.
 * Returns OK, E_InvalidRange: ends beyond FILE_LENGTH_MAX; E_ShareSizeLimitReached, as
 * decision_fail_content(). */
enum error file_write_beyond(struct decision *d, struct file *file, uint64_t offset,
                             const struct body *body);
enum error file_clear_bytes(struct decision *d, struct file *file, uint64_t offset,
                            uint64_t length);
/* Truncates the file, or extends it with a hole.
 * Returns OK, E_ShareSizeLimitReached, E_PendingCopyOperation, as decision_fail_content(). */
enum error file_resize(struct decision *d, struct file *file, uint64_t length);

#endif
