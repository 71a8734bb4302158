/* The bodies of an SMB client's requests. MS-SMB2 2.2.13 to 2.2.39 */
#ifndef LAGRA_SIM_SM_FORMS_H
#define LAGRA_SIM_SM_FORMS_H

#include "request.h"

struct wire_writer;

uint16_t sm_form_command(enum sm_op op);
/* Behind the header. */
void sm_form_put(struct wire_writer *w, const struct sm_ask *ask);

#endif
