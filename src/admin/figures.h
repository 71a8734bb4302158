/* Inside of admin/ only: what is measured when somebody asks, beside what is counted all the time. */
#ifndef LAGRA_ADMIN_FIGURES_H
#define LAGRA_ADMIN_FIGURES_H

#include "admin/management.h"

/* Of the process (the names that Prometheus' own clients use), of the store, and of the build. */
void figures_print(struct text *to, const struct management *management);

#endif
