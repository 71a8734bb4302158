/* SMB properties of a directory or file as set by requests.
 * rest: Create-File, Set-File-Properties; semantics 8.1 */
#ifndef LAGRA_FILE_SMB_PROPERTIES_H
#define LAGRA_FILE_SMB_PROPERTIES_H

#include "file/file_record.h"
#include "file/permission_operations.h"

enum smb_time_kind { TIME_KEPT, TIME_NOW, TIME_GIVEN };
struct smb_time {
    enum smb_time_kind kind;
    instant at; /* for TIME_GIVEN */
};
struct smb_given {
    bool has_attributes; /* otherwise unchanged */
    uint32_t attributes; /* without DIRECTORY */
    struct smb_time created, written, changed;
    struct permission_given permission;
};

/* Applies the properties, with d->now as the current time. All times of a new file are 0 before
 * the call. Returns OK, or an error of permission_settle(). */
enum error smb_apply(struct decision *d, const struct smb_given *given, struct file *file);

#endif
