/* Internal to admin/: values measured on request, as opposed to counted continuously. */
#ifndef LAGRA_ADMIN_FIGURES_H
#define LAGRA_ADMIN_FIGURES_H

#include "admin/management.h"

/* Prints values of the process (with the names used by Prometheus' own clients), of the store, and
 * of the build. */
void figures_print(struct text *to, const struct management *management);

#endif
