/* Operations for operators on a Unix socket in the server's directory (net/local.h), which only
 * this user and root can open, so there is no other authentication. Used by `lagra status`,
 * `account`, `container` and others.
 *
 *   POST /OPERATION   body: a JSON object of strings, the arguments of the operation's row
 *                     (admin.c); may be empty. 200 with a JSON object; else
 *                     {"code": "...", "error": "a sentence"}
 *
 * An operation may block for a disk: it runs in a thread pool of its own, so that it gets a
 * response even while all threads for decisions are waiting. docs/admin.md */
#ifndef LAGRA_ADMIN_ADMIN_H
#define LAGRA_ADMIN_ADMIN_H

#include "admin/backup_hold.h"
#include "admin/scrubber.h"
#include "admin/usage_survey.h"
#include "base/json.h"
#include "console/console.h"
#include "http/http.h"
#include "service/server.h"

/* In the server's directory; store/embedded/folder.c knows the name. */
#define ADMIN_SOCKET_NAME "admin.sock"

/* A listener, for `lagra status`. */
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
    struct backup_hold *backup; /* NULL, like the next one, if the data is in memory */
    struct scrubber *scrubber;
    struct accounts *accounts;
    bool follows_root;          /* the accounts are those of another cell, where they are changed */
    struct console *console;    /* NULL if not served */
    struct decision_pool *pool; /* used only by this application */
    const char *location;       /* the directory of the socket */
    uint64_t started_s;         /* since 1970 */
    struct admin_listener listeners[ADMIN_LISTENERS_MAX];
    size_t listener_count;
    /* Writes the list of effective options: name, value and setBy of each, without secrets. */
    void (*write_options)(const void *options, struct json_writer *to);
    const void *options;
    struct route *route; /* to the owners of a cluster's cells; NULL if there is no cluster */
    uint32_t cell;       /* owned by this process */
    const struct tenure *tenure; /* for sending responses; NULL if not needed */
};

extern const struct http_application admin_application;
/* Returns limits for a few connections, with one request at a time each. */
struct http_limits admin_limits(void);

#endif
