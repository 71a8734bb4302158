/* Restores queues from a backup: service/restore.h. */
#ifndef LAGRA_QUEUE_RESTORE_H
#define LAGRA_QUEUE_RESTORE_H

#include "service/restore.h"

extern const struct restore_functions queue_restore;

#endif
