/* Internal to transfer/: an account on a server, listed with its API. There is a file per service;
 * source_server.c combines them and reads data. */
#ifndef LAGRA_TRANSFER_SERVER_H
#define LAGRA_TRANSFER_SERVER_H

#include "base/xml.h"
#include "transfer/run.h"

struct server_source {
    struct source source;
    bool is_target; /* the target of the copy, listed for comparison */
    struct api_client *api_client;
    struct worker *worker; /* the listing worker */
    bool is_hierarchical;  /* the account has a hierarchical namespace */
    bool has_paths;        /* and a Data Lake endpoint that responds */
    bool hides_access;     /* it is hierarchical, but does not show access control lists */
    const char *blobs_query;
};

/* List a service. Return false after reporting an error. */
bool list_blobs(struct server_source *server);
bool list_queues(struct server_source *server);
bool list_tables(struct server_source *server);
bool list_shares(struct server_source *server);

/* Adds headers of a file or directory that are missing in its listing. */
bool complete_file(struct server_source *server, struct worker *worker, struct item *item);

/* Finds out whether the account is hierarchical. server_paths.c has this and the following ones. */
void server_find_hierarchy(struct server_source *server);
/* Sets the query that lists the blobs of a container, once. An account that does not show its
 * access control lists is listed as a flat one. path: "/container" */
void server_choose_query(struct server_source *server, struct bytes path);

/* Access control of a file or directory as the server shows it. */
struct server_access {
    struct bytes owner, group, permissions, acl;
};
/* Adds its headers, unless the server does not show the list. */
void server_add_access(struct arena *arena, struct item *item, const struct server_access *access);
/* Puts the root directory of a container. */
enum put_result server_put_root(struct server_source *server, struct bytes container,
                                struct bytes path);

/* Holds the encryption contexts of a container's files, of which few have one. */
struct path_contexts {
    struct arena *arena;     /* for names and contexts; the caller's */
    struct path_context *of; /* sorted by name */
    size_t count, capacity;
};
/* Lists the container's paths to find them. Reports a server that does not list them. */
void path_contexts_read(struct server_source *server, struct bytes path,
                        struct path_contexts *contexts);
/* Returns the file's context; ptr NULL if it has none. */
struct bytes path_contexts_find(const struct path_contexts *contexts, struct bytes name);

/* ---- shared functions: server_pages.c ---- */

/* Sends a GET whose response body is XML. Returns NULL after reporting an error. */
struct xml_node *server_get_xml(struct server_source *server, enum endpoint_kind service,
                                struct bytes path, struct bytes query);
/* A listing, page by page. */
struct server_pages {
    enum endpoint_kind service;
    struct bytes path;
    const char *query;
    /* Processes a page; returns false to end the listing. */
    bool (*take)(void *context, struct xml_node *page);
    void *context;
};
bool server_list_pages(struct server_source *server, const struct server_pages *pages);
/* The containers, queues or shares of an account. */
struct server_owners {
    enum endpoint_kind service;
    const char *query;
    const char *list, *element; /* names of the list in a page, and of its elements */
    /* Processes one, with memory of the worker's arena; returns false to end the listing. */
    bool (*take)(struct server_source *server, const struct xml_node *element);
};
bool server_list_owners(struct server_source *server, const struct server_owners *owners);
/* Returns access policies in the form for setting them; ptr NULL if they cannot be read. */
struct bytes server_policies(struct server_source *server, enum endpoint_kind service,
                             struct bytes path, const char *query);
/* Returns the text of a child element; ptr NULL if none exists. */
struct bytes server_text(const struct xml_node *node, const char *name);
/* Counts a lease in the listed properties, which the copy does not get. */
void server_leave_lease(struct server_source *server, const struct xml_node *properties);
/* Returns a name; the service percent-encodes it if XML cannot represent it. */
struct bytes server_name(struct arena *arena, struct bytes name);
/* Adds a node's <Metadata> as headers of the item. */
void server_add_metadata(struct arena *arena, struct item *item, const struct xml_node *node);

#endif
