/* What operators ask a running server, on a Unix socket in its folder (net/local.h), which this user and
 * root alone may open: so nobody is authenticated beyond that. `lagra status`, `account`, `container` and the
 * like ask here.
 *
 *   POST /OPERATION   body: a JSON object of texts, the arguments of the operation's row (admin_operations.c);
 *                     may be empty. 200 with a JSON object; else {"code": "...", "error": "a sentence"}
 *
 * An operation may wait for a disk: it runs on a thread of a pool of its own, so it is answered also while all
 * threads that decide are waiting. docs/admin.md */
#ifndef LAGRA_ADMIN_ADMIN_H
#define LAGRA_ADMIN_ADMIN_H

#include "admin/backup_hold.h"
#include "admin/scrubber.h"
#include "admin/usage_survey.h"
#include "base/json.h"
#include "console/console.h"
#include "http/http.h"
#include "service/server.h"

/* In its folder; store/embedded/folder.c knows the name. */
#define ADMIN_SOCKET_NAME "admin.sock"

/* One that it listens on, for `lagra status`. */
struct admin_listener {
    const char *name; /* "blob", "smb" */
    const char *host;
    uint16_t port; /* 0: not served */
    bool is_secure;
};
#define ADMIN_LISTENERS_MAX 8

/* The tag of a server of this application (http_start()). */
struct route;

struct admin {
    const struct endpoint_set *endpoints;
    struct store *store;
    struct backup_hold *backup; /* NULL, both: the data is in memory */
    struct scrubber *scrubber;
    struct accounts *accounts;
    bool follows_root; /* the accounts are those of another cell, where they are changed */
    struct usage_survey *usage;
    struct console *console;  /* NULL: it is not served */
    struct decide_pool *pool; /* of this application alone */
    const char *location;     /* the folder that the socket is in */
    uint64_t started_s;       /* since 1970 */
    struct admin_listener listeners[ADMIN_LISTENERS_MAX];
    size_t listener_count;
    /* A list of the options in force: name, value and setBy of each, no secrets. */
    void (*write_options)(const void *options, struct json_writer *to);
    const void *options;
    struct route *route;         /* to the owners of a cluster's cells; NULL: there is no cluster */
    uint32_t cell;               /* that this process owns */
    const struct tenure *tenure; /* by which responses are sent; NULL: none is needed */
};

extern const struct http_application admin_application;
/* A few connections, each with one request at a time. */
struct http_limits admin_limits(void);

#endif
