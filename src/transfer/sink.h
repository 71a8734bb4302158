/* Internal to transfer/: functions that create items on a server, called by sink_server.c. */
#ifndef LAGRA_TRANSFER_SINK_H
#define LAGRA_TRANSFER_SINK_H

#include "base/md5.h"
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
/* Copies the headers of an item to a new list, without those of item_is_tree_header(). */
struct header_list sink_headers(struct arena *arena, const struct item *item);

/* Represents the transfer of one state of a blob. */
struct sink_state {
    struct source *source;
    struct worker *worker;
    const struct item *item;
    struct bytes path;
    struct md5_stream md5; /* of the data read in order */
};
/* Reads the next part of the data. */
bool sink_state_read(struct sink_state *state, uint64_t at, uint64_t length,
                     struct bytes *ret_bytes);
/* Compares the MD5 of all data read with that reported by the source. */
bool sink_state_check_md5(struct sink_state *state);

/* Files and directories of hierarchical accounts: sink_path.c. Access control lists are set when a
 * directory or a block blob is created, before it has content; other blobs get them afterwards. */

/* Creates a directory, or changes an existing one. */
bool sink_put_folder(struct worker *worker, const struct item *item);
/* Creates a block blob with everything that its item has. */
bool sink_put_path(struct sink_state *state);
/* Sets the access control list and expiry of an existing file. */
bool sink_set_access(struct worker *worker, const struct item *item, struct bytes path);
/* Returns true if the item has headers of item_is_tree_header(). */
bool sink_has_access(const struct item *item);

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
