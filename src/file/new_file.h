/* Internal to file/: creation of a file, for Create File and Copy File. */
#ifndef LAGRA_FILE_NEW_FILE_H
#define LAGRA_FILE_NEW_FILE_H

#include "file/file_operations.h"

enum over_read_only { OVER_READ_ONLY_REFUSED, OVER_READ_ONLY };

/* Creates the node of a new file of this length. Deletes an existing file of the name with its
 * contents, but its lease passes to the new file. *file: must have its kind; its content is set
 * to a hole
 * returns OK, E_ReadOnlyAttribute, E_ResourceTypeMismatch, E_FileLockConflict,
 * E_ShareSizeLimitReached */
enum error new_file_open(struct decision *d, enum over_read_only rule, uint64_t length,
                         struct file *file, struct decision_part **ret_part);
/* Writes the record of the new node, with the default properties of its kind. */
enum error new_file_write(struct decision *d, struct decision_part *part,
                          const struct smb_given *smb, struct file *file);

#endif
