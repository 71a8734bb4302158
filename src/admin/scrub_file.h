/* The progress of a scrub, stored in the data directory: see scrubber.h. Internal to admin/. */
#ifndef LAGRA_ADMIN_SCRUB_FILE_H
#define LAGRA_ADMIN_SCRUB_FILE_H

#include "admin/scrubber.h"

struct scrub_note {
    struct scrub_state state; /* except `ended` */
    char *place;              /* position to continue at, from malloc(); NULL: from the start */
    size_t place_size;
};

/* Reads the progress; *ret_note is empty if there is none or it is corrupt. folder: data
 * directory */
void scrub_note_read(int folder, struct scrub_note *ret_note);
/* Writes the progress atomically. A failure is logged; its only effect is that a pass may start
 * over. */
void scrub_note_write(int folder, const struct scrub_state *state, struct bytes place);

#endif
