/* A row of the command table (smb/commands.c): everything that request validation and the state
 * machine need to know about a command. ms-smb2: 3.3.5.1 to 3.3.5.22 */
#ifndef LAGRA_SMB_SESSION_COMMAND_ROW_H
#define LAGRA_SMB_SESSION_COMMAND_ROW_H

#include "base/errors.h"
#include "smb_protocol/status.h"
#include "smb_protocol/wire.h"

struct smb_request;

/* The next step of a command, returned by its functions. */
enum smb_step {
    STEP_ANSWER, /* send the response with request->status */
    STEP_FAILED, /* the same, once the failure of the store may be reported */
    STEP_DECIDE, /* run request->attempt and commit; then row->decided */
    STEP_HOLD,   /* park until request_wake() or request_cancel(); then row->go_on */
    STEP_AWAIT,  /* like STEP_HOLD, for short waits: without an interim response */
    STEP_WAIT,   /* wait for the waiter of request_arm(); then row->go_on */
    STEP_LOAD,   /* run row->load in the pool; then row->go_on */
    STEP_GO_ON,  /* call row->go_on */
};

/* What a command requires. */
enum smb_needs {
    NEEDS_NOTHING,
    NEEDS_SESSION, /* a valid session */
    NEEDS_TREE,    /* a tree connect of a valid session */
    NEEDS_FILE,    /* an open of such a tree, identified at row->file_at */
};

/* Position of a command in a compound. */
enum smb_compounding {
    ALONE,    /* never in a compound: STATUS_INVALID_PARAMETER */
    COMPOUND, /* anywhere */
    LAST,     /* only as the last one, since it may wait for a long time: STATUS_INTERNAL_ERROR */
};

/* What must be durable before the response is sent. README.md, invariant 7. */
enum smb_lasting {
    COMMITTED, /* nothing */
    SEEN,      /* everything that the decision has read */
    LASTING,   /* also the command's own changes */
};

#define SMB_CHARGES_MAX 2u

struct smb_row {
    enum smb_command command; /* its index in the table */
    const char *name;
    uint16_t structure_size; /* StructureSize; if odd, the last byte may be missing */
    enum smb_needs needs;
    enum smb_compounding compounding;
    enum smb_lasting lasting;
    bool changes;                       /* audited: changes data or access rights */
    uint8_t file_at;                    /* offset of the FileId in the body */
    uint8_t charge_at[SMB_CHARGES_MAX]; /* offsets of lengths covered by CreditCharge, or 0 */
    /* Reads the body, of which the fixed part is complete; the reader is after StructureSize. NULL:
     * not implemented, STATUS_NOT_SUPPORTED */
    enum smb_step (*begin)(struct smb_request *request, struct wire_reader *r);
    /* Continues after a decision, with its result in request->error. NULL: responds with
     * nt_status_of() of that result. */
    enum smb_step (*decided)(struct smb_request *request);
    /* Continues after STEP_HOLD, STEP_AWAIT, STEP_WAIT, STEP_LOAD or STEP_GO_ON. */
    enum smb_step (*go_on)(struct smb_request *request);
    /* Runs on a thread that may block. */
    void (*load)(struct smb_request *request);
    /* Writes the body of a response without an error status. NULL means the empty body of 4 bytes.
     */
    void (*answer)(struct smb_request *request, struct wire_writer *w);
    /* Frees what the command's parameters hold at the end of the request. Called if begin() has set
     * request->parameters. */
    void (*over)(struct smb_request *request);
};

/* ---- functions of the rows, one file per command or group of commands ---- */

#define SMB_BEGIN(name)                                                                            \
    enum smb_step smb_##name##_begin(struct smb_request *request, struct wire_reader *r)
#define SMB_DECIDED(name) enum smb_step smb_##name##_decided(struct smb_request *request)
#define SMB_GO_ON(name)   enum smb_step smb_##name##_go_on(struct smb_request *request)
#define SMB_LOAD(name)    void smb_##name##_load(struct smb_request *request)
#define SMB_ANSWER(name)                                                                           \
    void smb_##name##_answer(struct smb_request *request, struct wire_writer *w)
/* Frees parameters; called however the request ends. */
#define SMB_OVER(name) void smb_##name##_over(struct smb_request *request)

/* The commands of this module. */
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
SMB_BEGIN(change_notify);
SMB_DECIDED(change_notify);
SMB_GO_ON(change_notify);
SMB_ANSWER(change_notify);
SMB_OVER(change_notify);

#endif
