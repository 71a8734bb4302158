/* Internal to embedded/: implements store_figures(). */
#ifndef LAGRA_STORE_EMBEDDED_FIGURES_H
#define LAGRA_STORE_EMBEDDED_FIGURES_H

#include "store/embedded/embedded_private.h"

/* As store_figures(). Any thread. */
bool embedded_figures(struct store *store, struct store_figures *ret_figures);

#endif
