/* Restores containers from a backup: service/restore.h. */
#ifndef LAGRA_BLOB_RESTORE_H
#define LAGRA_BLOB_RESTORE_H

#include "service/restore.h"

extern const struct restore_functions blob_restore;

#endif
