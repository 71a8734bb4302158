/* The bytes of a file, as operations change them: contents (content.h) with what the share counts of
 * them. Each changes *file, which its caller writes. A decision may have one of them, once: they read
 * what was there before. What is known of a copy that made the file is known no more.
 * rest: Get-File-Properties "x-ms-copy-id" */
#ifndef LAGRA_FILE_FILE_CONTENT_H
#define LAGRA_FILE_FILE_CONTENT_H

#include "file/file.h"

/* What is cleared is freed in whole units of this; the rest is written with zeros.
 * rest: Put-Range "x-ms-write: clear" */
#define FILE_UNIT_BYTES 512u

/* Of the subject.
 * returns OK, E_InvalidRange: beyond the end; as decision_fail_content() */
enum error file_write_bytes(struct decision *d, struct file *file, uint64_t offset,
                            const struct body *body);
enum error file_clear_bytes(struct decision *d, struct file *file, uint64_t offset,
                            uint64_t length);
/* Cuts it, or lets it grow by a hole.
 * returns OK, E_ShareSizeLimitReached, as decision_fail_content() */
enum error file_resize(struct decision *d, struct file *file, uint64_t length);

#endif
