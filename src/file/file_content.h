/* Changes of a file's bytes: of its content (content.h) and of the lengths that its share counts. Each
 * function changes *file, which its caller writes. A decision may call one of them, once, because they read
 * the state before it. They clear the properties of the copy that made the file.
 * rest: Get-File-Properties "x-ms-copy-id" */
#ifndef LAGRA_FILE_FILE_CONTENT_H
#define LAGRA_FILE_FILE_CONTENT_H

#include "file/file.h"

/* Clearing frees whole units of so many bytes; the rest is overwritten with zeros.
 * rest: Put-Range "x-ms-write: clear" */
#define FILE_UNIT_BYTES 512u

/* Of the subject.
 * returns OK, E_InvalidRange: beyond the end; E_PendingCopyOperation; as decision_fail_content() */
enum error file_write_bytes(struct decision *d, struct file *file, uint64_t offset,
                            const struct body *body);
/* The same anywhere: beyond its end the file grows. returns OK, E_InvalidRange: ends behind FILE_LENGTH_MAX;
 * E_ShareSizeLimitReached, as decision_fail_content() */
enum error file_write_beyond(struct decision *d, struct file *file, uint64_t offset,
                             const struct body *body);
enum error file_clear_bytes(struct decision *d, struct file *file, uint64_t offset,
                            uint64_t length);
/* Cuts it, or lets it grow by a hole.
 * returns OK, E_ShareSizeLimitReached, E_PendingCopyOperation, as decision_fail_content() */
enum error file_resize(struct decision *d, struct file *file, uint64_t length);

#endif
