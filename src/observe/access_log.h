/* Logs of requests. The access log has a JSON object per line. The audit log contains the requests
 * that may change data, and changes of keys. The third is the log of slow requests.
 * docs/monitoring.md describes their lines. No log contains a key, a signature or a token. Writing
 * never blocks (base/event_log.h). */
#ifndef LAGRA_OBSERVE_ACCESS_LOG_H
#define LAGRA_OBSERVE_ACCESS_LOG_H

#include "base/bytes.h"
#include "base/errors.h"
#include "base/ids.h"
#include "http/http.h"

struct access_log_options {
    const char *access_path; /* NULL if off */
    const char *audit_path;  /* NULL if off */
    uint64_t slow_ns;        /* threshold of the slow log; 0 if off */
};

/* Opens the logs, before the first request and before event_logs_start(). Returns NULL, or the path
 * that cannot be opened, with errno. Called at start-up. */
const char *access_logs_open(const struct access_log_options *options);
/* Logs a change of access rights that was not made by a request. what: static; account: ptr NULL if
 * the change concerns several accounts. Thread-safe. */
void audit_note(const char *what, struct bytes account);
/* Logs the end of a background copy to the access and audit logs. service: of the destination;
 * source: URL, logged without its query; e: reason of the failure, or OK. Thread-safe. */
void access_log_copy(const char *service, const struct guid *id, struct bytes source, enum error e);

/* A request that this front end has forwarded to the owner of its cell, for the access log and the
 * log of slow requests. */
struct forwarded_request {
    const char *service, *result; /* names; static */
    const struct request *request;
    int status; /* 0 if there was no response */
    uint32_t cell;
    const char *to;          /* address and port of the owner; "" if none was found */
    uint64_t ns, waited_ns;  /* in all; until it was sent */
    uint64_t received, sent; /* bytes of bodies */
    bool is_direct;          /* this front end read the body from the files of the cell */
};
void access_log_forwarded(const struct forwarded_request *forwarded);

/* An SMB command whose response was sent. */
struct smb_logged {
    const char *command, *status; /* names; static */
    bool changes;                 /* also goes to the audit log */
    struct bytes account, client;
    struct bytes path; /* share; for a CREATE also the path in it */
    uint64_t handle;   /* 0 if none */
};
/* Returns true if a log records such commands. */
bool access_log_wants_smb(bool changes);
void access_log_smb(const struct smb_logged *logged);

#endif
