/* Internal to admin/: the file with the progress of a scrub; see scrubber.h. */
#ifndef LAGRA_ADMIN_SCRUB_FILE_H
#define LAGRA_ADMIN_SCRUB_FILE_H

#include "admin/scrubber.h"

struct scrub_note {
    struct scrub_state state; /* except `ended` */
    char *place; /* position to continue at, from malloc(); NULL means from the start */
    size_t place_size;
};

/* Reads the progress; *ret_note is empty if none exists or it is corrupt. folder: data
 * directory */
void scrub_note_read(int folder, struct scrub_note *ret_note);
/* Writes the progress atomically. If this fails, it is logged, and the pass may start over after a
 * restart. */
void scrub_note_write(int folder, const struct scrub_state *state, struct bytes place);

#endif
