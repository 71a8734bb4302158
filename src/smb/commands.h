/* The table of commands: one row a command, with all that has to be known of it before its own functions see
 * it. ms-smb2: 3.3.5.1 to 3.3.5.22 */
#ifndef LAGRA_SMB_COMMANDS_H
#define LAGRA_SMB_COMMANDS_H

#include "base/errors.h"
#include "smb/status.h"
#include "smb/wire.h"

struct smb_request;

/* What a command's function says comes next. */
enum smb_step {
    STEP_ANSWER, /* with request->status: it is done */
    STEP_DECIDE, /* request->attempt, and commit what it changes: then row->decided */
    STEP_HOLD,   /* parked until request_wake() or request_cancel(): then row->go_on */
    STEP_AWAIT,  /* the same, but it comes soon, so no interim answer is sent */
    STEP_WAIT,   /* until the waiter of request_arm() is woken: then row->go_on */
    STEP_LOAD,   /* until row->load has run in the pool: then row->go_on */
    STEP_GO_ON,  /* row->go_on */
};

/* What a command needs before it begins. */
enum smb_needs {
    NEEDS_NOTHING,
    NEEDS_SESSION, /* one that is valid */
    NEEDS_TREE,    /* of such a session */
    NEEDS_FILE,    /* an open of such a tree, at row->file_at */
};

/* How it goes in a compound. */
enum smb_compounding {
    ALONE,    /* only by itself: STATUS_INVALID_PARAMETER */
    COMPOUND, /* anywhere */
    LAST, /* waits for long, so nothing may follow: STATUS_INTERNAL_ERROR where it would have to */
};

/* When its answer may go. README.md, invariant 7. */
enum smb_lasting {
    COMMITTED, /* at once */
    SEEN,      /* once all that it was decided on is durable */
    LASTING,   /* once what it did is durable too */
};

#define SMB_CHARGES_MAX 2u

struct smb_row {
    enum smb_command command; /* which is its place in the table */
    const char *name;
    uint16_t
        structure_size; /* the request's StructureSize: an odd one counts a byte that may be missing */
    enum smb_needs needs;
    enum smb_compounding compounding;
    enum smb_lasting lasting;
    bool changes;    /* for the audit log: something, or who may do what */
    uint8_t file_at; /* where the FileId is, from the start of the body */
    uint8_t
        charge_at[SMB_CHARGES_MAX]; /* where the lengths are that its credits pay for; 0: none */
    /* Reads the body, whose fixed part is there. The reader is behind StructureSize. NULL: not built,
     * STATUS_NOT_SUPPORTED */
    enum smb_step (*begin)(struct smb_request *request, struct wire_reader *r);
    /* After a decision: request->error. NULL: nt_status_of() of it. */
    enum smb_step (*decided)(struct smb_request *request);
    /* After STEP_HOLD, STEP_AWAIT, STEP_WAIT, STEP_LOAD, STEP_GO_ON. */
    enum smb_step (*go_on)(struct smb_request *request);
    /* On a thread that may block. */
    void (*load)(struct smb_request *request);
    /* Writes the body of an answer with a status that is no error. NULL: the empty one of 4 bytes. */
    void (*answer)(struct smb_request *request, struct wire_writer *w);
    /* Gives back what the command's parameters hold, once it is over. Called if begin was, and set
     * request->parameters. */
    void (*over)(struct smb_request *request);
};

/* NULL: there is no such command. */
const struct smb_row *smb_row_find(uint16_t command);

/* ---- the functions of the rows: one file a command, or a few that belong together ---- */

#define SMB_BEGIN(name)                                                                            \
    enum smb_step smb_##name##_begin(struct smb_request *request, struct wire_reader *r)
#define SMB_DECIDED(name) enum smb_step smb_##name##_decided(struct smb_request *request)
#define SMB_GO_ON(name)   enum smb_step smb_##name##_go_on(struct smb_request *request)
#define SMB_LOAD(name)    void smb_##name##_load(struct smb_request *request)
#define SMB_ANSWER(name)                                                                           \
    void smb_##name##_answer(struct smb_request *request, struct wire_writer *w)
/* What has to be given back, however the request ends. */
#define SMB_OVER(name) void smb_##name##_over(struct smb_request *request)

SMB_BEGIN(negotiate);
SMB_ANSWER(negotiate);
SMB_BEGIN(session_setup);
SMB_GO_ON(session_setup);
SMB_ANSWER(session_setup);
SMB_OVER(session_setup);
SMB_BEGIN(logoff);
SMB_GO_ON(logoff);
SMB_BEGIN(tree_connect);
SMB_DECIDED(tree_connect);
SMB_ANSWER(tree_connect);
SMB_BEGIN(tree_disconnect);
SMB_GO_ON(tree_disconnect);
SMB_BEGIN(create);
SMB_DECIDED(create);
SMB_ANSWER(create);
SMB_OVER(create);
SMB_BEGIN(close);
SMB_DECIDED(close);
SMB_GO_ON(close);
SMB_ANSWER(close);
SMB_BEGIN(flush);
SMB_DECIDED(flush);
SMB_BEGIN(read);
SMB_DECIDED(read);
SMB_GO_ON(read);
SMB_LOAD(read);
SMB_ANSWER(read);
SMB_OVER(read);
SMB_BEGIN(write);
SMB_GO_ON(write);
SMB_DECIDED(write);
SMB_ANSWER(write);
SMB_OVER(write);
SMB_BEGIN(lock);
SMB_DECIDED(lock);
SMB_BEGIN(ioctl);
SMB_DECIDED(ioctl);
SMB_GO_ON(ioctl);
SMB_LOAD(ioctl);
SMB_ANSWER(ioctl);
SMB_OVER(ioctl);
SMB_BEGIN(change_notify);
SMB_DECIDED(change_notify);
SMB_GO_ON(change_notify);
SMB_ANSWER(change_notify);
SMB_OVER(change_notify);
SMB_BEGIN(query_directory);
SMB_DECIDED(query_directory);
SMB_ANSWER(query_directory);
SMB_OVER(query_directory);
SMB_BEGIN(query_info);
SMB_DECIDED(query_info);
SMB_ANSWER(query_info);
SMB_BEGIN(set_info);
SMB_DECIDED(set_info);
SMB_ANSWER(set_info);
SMB_BEGIN(oplock_break);
SMB_DECIDED(oplock_break);
SMB_ANSWER(oplock_break);

#endif
