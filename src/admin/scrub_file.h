/* How far a scrub is, in the data folder: see scrubber.h. Inside of admin/ only. */
#ifndef LAGRA_ADMIN_SCRUB_FILE_H
#define LAGRA_ADMIN_SCRUB_FILE_H

#include "admin/scrubber.h"

struct scrub_note {
    struct scrub_state state; /* but for `ended` */
    char *place;              /* of malloc(); where it goes on; NULL: at the beginning */
    size_t place_size;
};

/* What is there; nothing when there is none, or it is damaged. folder: of the data. */
void scrub_note_read(int folder, struct scrub_note *ret_note);
/* Whole or not at all; what fails is logged, and costs no more than that a pass begins anew. */
void scrub_note_write(int folder, const struct scrub_state *state, struct bytes place);

#endif
