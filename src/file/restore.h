/* Restore of shares from a backup: service/restore.h. */
#ifndef LAGRA_FILE_RESTORE_H
#define LAGRA_FILE_RESTORE_H

#include "service/restore.h"

extern const struct restore_functions file_restore;

#endif
