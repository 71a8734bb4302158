/* Internal to transfer/: functions that create items on a server, called by sink_server.c. */
#ifndef LAGRA_TRANSFER_SINK_H
#define LAGRA_TRANSFER_SINK_H

#include "transfer/run.h"

/* Maximum data per request. */
#define SINK_RANGE_BYTES ((uint64_t)4 << 20)

/* ---- shared functions: sink_request.c ---- */

/* Sends a request to the target. ret_status may be NULL. Returns false after reporting an error. */
struct sink_request {
    const char *method;
    enum endpoint_kind service;
    struct bytes path, query;
    struct header_list headers;
    struct bytes body; /* ptr NULL if none */
    int accepted;      /* a status other than 2xx that counts as success; 0 if none */
};
bool sink_ask(struct worker *worker, const struct sink_request *request, int *ret_status);
/* Returns "/parent/name", encoded. */
struct bytes sink_path(struct arena *arena, struct bytes parent, struct bytes name);
/* Adds a header to those of a request. */
void sink_header(struct arena *arena, struct header_list *list, const char *name,
                 struct bytes value);
/* Copies the headers of an item to a new list. */
struct header_list sink_headers(struct arena *arena, const struct item *item);

/* ---- sink_blob.c, sink_file.c, sink_queue.c, sink_queue.c ---- */

bool sink_put_blob(struct source *source, struct worker *worker, const struct item *item);
bool sink_put_directory(struct worker *worker, const struct item *item);
bool sink_put_file(struct source *source, struct worker *worker, const struct item *item);
bool sink_put_queue(struct worker *worker, const struct item *item);
bool sink_put_message(struct worker *worker, const struct item *item);
bool sink_end_queue(struct worker *worker, const struct item *item);
bool sink_put_table(struct worker *worker, const struct item *item);
bool sink_put_entity(struct worker *worker, const struct item *item);

#endif
