/* When a data folder was backed up last, kept in the folder as long as it lives: the file "backed-up", one line,
 * "lagra backed up 1 SECONDS", since 1970. Whole or not at all. */
#ifndef LAGRA_ADMIN_BACKUP_NOTE_H
#define LAGRA_ADMIN_BACKUP_NOTE_H

#include <stdint.h>

/* Reads it. Returns 0 if there is none, or none that can be read. */
int64_t backup_note_read(const char *location);
/* Writes it anew. What fails is logged: it costs a metric. */
void backup_note_write(const char *location, int64_t seconds);

#endif
