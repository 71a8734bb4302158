/* Inside file/ only: what all that make a file have in common: Create File, Copy File. */
#ifndef LAGRA_FILE_NEW_FILE_H
#define LAGRA_FILE_NEW_FILE_H

#include "file/file_operations.h"

enum over_read_only { OVER_READ_ONLY_REFUSED, OVER_READ_ONLY };

/* Opens what is to be a new file of this length, in the place of the one that has its name, if there is
 * one: that is deleted, with its contents, and leaves its lease. *file: its kind at least; its content
 * becomes a hole.
 * returns OK, E_ReadOnlyAttribute, E_ResourceTypeMismatch, E_ShareSizeLimitReached */
enum error new_file_open(struct decision *d, enum over_read_only rule, uint64_t length,
                         struct file *file, struct decision_part **ret_part);
/* Gives the new node its record, behind what it has by its kind. */
enum error new_file_write(struct decision *d, struct decision_part *part,
                          const struct smb_given *smb, struct file *file);

#endif
