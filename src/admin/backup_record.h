/* The time of a data directory's last backup, stored in the directory: the file "backed-up", one
 * line, "lagra backed up 1 SECONDS", since 1970. Replaced atomically. */
#ifndef LAGRA_ADMIN_BACKUP_NOTE_H
#define LAGRA_ADMIN_BACKUP_NOTE_H

#include <stdint.h>

/* Reads the time. Returns 0 if there is none, or it cannot be read. */
int64_t backup_record_read(const char *location);
/* Writes the time. A failure is logged; it only affects a metric. */
void backup_record_write(const char *location, int64_t seconds);

#endif
