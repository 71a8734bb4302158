/* Restores tables from a backup: service/restore.h. */
#ifndef LAGRA_TABLE_RESTORE_H
#define LAGRA_TABLE_RESTORE_H

#include "service/restore.h"

extern const struct restore_functions table_restore;

#endif
