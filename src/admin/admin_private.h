/* Internal to admin/: operators' requests and their responses. */
#ifndef LAGRA_ADMIN_PRIVATE_H
#define LAGRA_ADMIN_PRIVATE_H

#include "admin/admin.h"
#include "base/json.h"

#define ADMIN_ARGUMENTS_MAX  9
#define ADMIN_BODY_MAX_BYTES ((size_t)64 << 10)

struct admin_call {
    struct pool_job job;
    struct exchange *exchange;
    const struct admin *admin;
    const struct admin_operation *operation;
    struct arena *arena; /* the exchange's */
    struct text body;    /* request body */
    /* In the order of the operation's arguments; ptr NULL if absent, never empty. */
    struct bytes given[ADMIN_ARGUMENTS_MAX];
    int status; /* 0 until run; then 200 unless changed */
    struct text answer;
    struct json_writer out; /* writes the members of `answer` */
};

/* An operation of the table in admin.c. */
struct admin_operation {
    const char *name; /* POST /name */
    const char *const arguments[ADMIN_ARGUMENTS_MAX];
    unsigned required; /* number of leading arguments that are required */
    /* 0 for a JSON body of at most ADMIN_BODY_MAX_BYTES; else the maximum size of a binary body */
    size_t body_max;
    /* Called on a thread that may block: writes members to call->out, or fails. */
    void (*run)(struct admin_call *call);
};

/* Starts a response without members. */
void admin_begin_answer(struct admin_call *call, int status);
/* Fails the call with an HTTP status, a one-word error code and a printf-style message. Discards
 * any response written so far. */
void admin_fail(struct admin_call *call, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fails the call with the status, code and message of a service error. */
void admin_fail_error(struct admin_call *call, enum error e);
/* Writes an instant as a member; writes nothing for 0. */
void admin_write_instant(struct json_writer *out, const char *name, instant at);

/* ---- the operations ---- */

void admin_status(struct admin_call *call);
void admin_config(struct admin_call *call);
void admin_slowest(struct admin_call *call);
void admin_todo(struct admin_call *call);
void admin_console_link(struct admin_call *call);
void admin_log_level(struct admin_call *call);
/* backup_hold.c */
void admin_backup_begin(struct admin_call *call);
void admin_backup_hold(struct admin_call *call);
void admin_backup_end(struct admin_call *call);
void admin_backup_state(struct admin_call *call);
/* restore.c */
void admin_restore_begin(struct admin_call *call);
void admin_restore_put(struct admin_call *call);
void admin_restore_end(struct admin_call *call);
void admin_restore_cancel(struct admin_call *call);
/* scrubber.c */
void admin_scrub(struct admin_call *call);
void admin_scrub_state(struct admin_call *call);
/* usage_survey.c */
void admin_usage(struct admin_call *call);
void admin_account_add(struct admin_call *call);
void admin_account_list(struct admin_call *call);
void admin_account_show(struct admin_call *call);
void admin_account_set(struct admin_call *call);
void admin_account_rotate_key(struct admin_call *call);
void admin_account_sign(struct admin_call *call);
void admin_scope_add(struct admin_call *call);
void admin_scope_list(struct admin_call *call);
void admin_scope_set(struct admin_call *call);
void admin_resource_create(struct admin_call *call);
void admin_resource_list(struct admin_call *call);
void admin_resource_delete(struct admin_call *call);
void admin_container_protect(struct admin_call *call);
void admin_container_show(struct admin_call *call);

#endif
