/* Inside of transfer/ only: an account on a server, listed by its API. A file for each service; source_server.c puts them
 * together and reads bytes. */
#ifndef LAGRA_TRANSFER_SERVER_H
#define LAGRA_TRANSFER_SERVER_H

#include "base/xml.h"
#include "transfer/run.h"

struct server_source {
    struct source source;
    bool is_target; /* the side that is copied to, listed to be compared */
    struct asker *asker;
    struct worker *worker; /* the one that lists */
};

/* All of a service. False: said why. */
bool list_blobs(struct server_source *server);
bool list_queues(struct server_source *server);
bool list_tables(struct server_source *server);
bool list_shares(struct server_source *server);

/* Headers of a file or a directory, which its listing does not say. */
bool complete_file(struct server_source *server, struct worker *worker, struct item *item);

/* ---- what they share: server_pages.c ---- */

/* GET; the answer's body is XML. NULL: said why. */
struct xml_node *server_get_xml(struct server_source *server, enum endpoint_kind service,
                                struct bytes path, struct bytes query);
/* A listing, page by page. */
struct server_pages {
    enum endpoint_kind service;
    struct bytes path;
    const char *query;
    /* Of a page; false: the listing ends. */
    bool (*take)(void *context, struct xml_node *page);
    void *context;
};
bool server_list_pages(struct server_source *server, const struct server_pages *pages);
/* Access policies as they are set again; ptr NULL: they cannot be read. */
struct bytes server_policies(struct server_source *server, enum endpoint_kind service,
                             struct bytes path, const char *query);
/* Text of a child of a node; ptr NULL: it has none. */
struct bytes server_text(const struct xml_node *node, const char *name);
/* Counts the lease that properties of a listing show, since the copy has none. */
void server_leave_lease(struct server_source *server, const struct xml_node *properties);
/* A name as it is: percent-encoded where XML cannot say it. */
struct bytes server_name(struct arena *arena, struct bytes name);
/* <Metadata> of a node, as headers of the item. */
void server_add_metadata(struct arena *arena, struct item *item, const struct xml_node *node);

#endif
