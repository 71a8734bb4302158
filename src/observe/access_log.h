/* Logs of requests: the access log, a JSON object a line for each; the audit log, the same of those that may change
 * something, and of changes of keys; and lines for those that took long. Their lines are in docs/monitoring.md. None has a
 * key, a signature or a token. Writing them never waits (base/event_log.h). */
#ifndef LAGRA_OBSERVE_ACCESS_LOG_H
#define LAGRA_OBSERVE_ACCESS_LOG_H

#include "base/bytes.h"
#include "base/errors.h"
#include "base/ids.h"
#include "http/http.h"

struct access_log_options {
    const char *access_path; /* NULL: none */
    const char *audit_path;  /* NULL: none */
    uint64_t slow_ns;        /* requests that took so long; 0: none */
};

/* Before the first request; event_logs_start() follows. returns NULL, or the path that cannot be opened, with errno.
 * Start-up. */
const char *access_logs_open(const struct access_log_options *options);
/* Something that changes who may do what, other than by a request. what: static. account: whose; ptr NULL: nobody's
 * alone. Any thread. */
void audit_note(const char *what, struct bytes account);
/* A pending copy has come to its end in the background, to both logs. service: of its destination. source: its URL; what
 * authorizes the read is not logged. e: why it failed. Any thread. */
void access_log_copy(const char *service, const struct guid *id, struct bytes source, enum error e);

/* A request that this front end of a cluster has forwarded to the owner of its cell, to the access log. */
struct forwarded_request {
    const char *service, *result; /* names; static */
    const struct request *request;
    int status;     /* 0: no response */
    const char *to; /* address and port of the owner; "": none was found */
    uint64_t ns;
    uint64_t received, sent; /* bytes of bodies */
};
void access_log_forwarded(const struct forwarded_request *forwarded);

/* A command of SMB was answered. */
struct smb_logged {
    const char *command, *status; /* names; static */
    bool changes;                 /* it goes to the audit log, too */
    struct bytes account, client;
    struct bytes path; /* the share; of a CREATE with the names below it */
    uint64_t handle;   /* 0: none */
};
/* Is there a log that wants it? */
bool access_log_wants_smb(bool changes);
void access_log_smb(const struct smb_logged *logged);

#endif
