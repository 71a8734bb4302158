/* Inside of transfer/ only: the sources and sinks that there are. */
#ifndef LAGRA_TRANSFER_SIDES_H
#define LAGRA_TRANSFER_SIDES_H

#include "transfer/run.h"

/* Of a server. is_target: the one that was copied to, as it is compared */
struct source *source_server_new(bool is_target);
struct sink *sink_server_new(void);
/* Of folders. NULL: said why. */
struct source *source_export_new(struct worker *worker, const char *folder);
/* account: which of those in the folder */
struct source *source_azurite_new(struct worker *worker, const char *folder, const char *account);
struct sink *sink_export_new(struct worker *worker, const char *folder);

#endif
