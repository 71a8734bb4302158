/* Operators' requests, over a Unix socket in the server's data directory (net/local.h). Only the
 * server's user and root can open it, so there is no other authentication. Used by `lagra status`,
 * `account`, `container` and others.
 *
 *   POST /OPERATION   body: a JSON object of strings: the arguments listed for the operation in
 *                     the table of admin.c; may be empty. Response: 200 with a JSON object;
 *                     otherwise
 *                     {"code": "...", "error": "a sentence"}
 *
 * Operations may wait for the disk. They run in a thread pool of their own, so that they complete
 * even if all threads for decisions are waiting. docs/admin.md */
#ifndef LAGRA_ADMIN_ADMIN_H
#define LAGRA_ADMIN_ADMIN_H

#include "admin/backup_hold.h"
#include "admin/scrubber.h"
#include "admin/usage_survey.h"
#include "base/json.h"
#include "console/console.h"
#include "http/http.h"
#include "service/server.h"

/* Name of the socket in the data directory; store/embedded/folder.c has the same name. */
#define ADMIN_SOCKET_NAME "admin.sock"

/* A listener, as shown by `lagra status`. */
struct admin_listener {
    const char *name; /* "blob", "smb" */
    const char *host;
    uint16_t port; /* 0 if not served */
    bool is_secure;
};
#define ADMIN_LISTENERS_MAX 8

/* The tag of a server of this application (http_start()). */
struct route;

struct admin {
    const struct endpoint_set *endpoints;
    struct store *store;
    struct backup_hold *backup; /* this and the next member are NULL if the data is in memory */
    struct scrubber *scrubber;
    struct accounts *accounts;
    bool follows_root; /* accounts are copied from the root cell and can be changed only there */
    struct console *console;    /* NULL if not served */
    struct decision_pool *pool; /* used only by this application */
    const char *location;       /* directory of the socket */
    uint64_t started_s;         /* Unix time */
    struct admin_listener listeners[ADMIN_LISTENERS_MAX];
    size_t listener_count;
    /* Writes the list of effective options, with name, value and setBy of each, without
     * secrets. */
    void (*write_options)(const void *options, struct json_writer *to);
    const void *options;
    /* routes to the owners of a cluster's cells; NULL if there is no cluster */
    struct route *route;
    uint32_t cell;               /* cell owned by this process */
    const struct tenure *tenure; /* for sending responses; NULL if not needed */
};

extern const struct http_application admin_application;
/* Returns limits for a few connections with one request at a time each. */
struct http_limits admin_limits(void);

#endif
