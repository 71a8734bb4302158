/* Inside of transfer/ only: what makes items on a server, of which sink_server.c is the dispatcher. */
#ifndef LAGRA_TRANSFER_SINK_H
#define LAGRA_TRANSFER_SINK_H

#include "transfer/run.h"

/* Bytes of one request. */
#define SINK_RANGE_BYTES ((uint64_t)4 << 20)

/* ---- what they share: sink_request.c ---- */

/* A request of the target, and its answer for those who want it (NULL: nobody). False: said why. */
struct sink_request {
    const char *method;
    enum endpoint_kind service;
    struct bytes path, query;
    struct header_list headers;
    struct bytes body; /* ptr NULL: none */
    int accepted;      /* a status beside 2xx that is no problem; 0: none */
};
bool sink_ask(struct worker *worker, const struct sink_request *request, int *ret_status);
/* "/parent/name", encoded. */
struct bytes sink_path(struct arena *arena, struct bytes parent, struct bytes name);
/* Adds a header to a request's. */
void sink_header(struct arena *arena, struct header_list *list, const char *name,
                 struct bytes value);
/* The headers of an item, in a list of their own. */
struct header_list sink_headers(struct arena *arena, const struct item *item);

/* ---- sink_blob.c, sink_file.c, sink_queue.c, sink_table.c ---- */

bool sink_put_blob(struct source *source, struct worker *worker, const struct item *item);
bool sink_put_directory(struct worker *worker, const struct item *item);
bool sink_put_file(struct source *source, struct worker *worker, const struct item *item);
bool sink_put_queue(struct worker *worker, const struct item *item);
bool sink_put_message(struct worker *worker, const struct item *item);
bool sink_end_queue(struct worker *worker, const struct item *item);
bool sink_put_table(struct worker *worker, const struct item *item);
bool sink_put_entity(struct worker *worker, const struct item *item);

#endif
