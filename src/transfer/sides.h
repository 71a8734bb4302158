/* Internal to transfer/: the available sources and sinks. */
#ifndef LAGRA_TRANSFER_SIDES_H
#define LAGRA_TRANSFER_SIDES_H

#include "transfer/run.h"

/* Create the server side. is_target: the copy's target, opened for the comparison */
struct source *source_server_new(bool is_target);
struct sink *sink_server_new(void);
/* Create the directory side. Return NULL after reporting the error. */
struct source *source_export_new(struct worker *worker, const char *folder);
/* account: the account to copy */
struct source *source_azurite_new(struct worker *worker, const char *folder, const char *account);
struct sink *sink_export_new(struct worker *worker, const char *folder);

#endif
