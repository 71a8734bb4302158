/* NTSTATUS codes (status.def) and the mapping of decision errors (base/errors.def) to them.
 * Thread-safe. ms-erref: 2.3.1 */
#ifndef LAGRA_SMB_PROTOCOL_STATUS_H
#define LAGRA_SMB_PROTOCOL_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"

/* Ordinals, with STATUS_SUCCESS 0; nt_status_value() returns the codes. */
enum nt_status {
#define NT_STATUS(name, value) name,
#include "smb_protocol/status.def"
#undef NT_STATUS
    NT_STATUS_COUNT,
};

uint32_t nt_status_value(enum nt_status status);
/* For logs: "STATUS_ACCESS_DENIED". */
const char *nt_status_name(enum nt_status status);
/* Returns whether the severity is "error" (ms-erref: 2.3): the response is an ERROR Response, and
 * related requests of a compound fail too. */
bool nt_status_is_error(enum nt_status status);

/* Maps the result of a decision about a file, directory or share. Errors of other services and of
 * HTTP map to STATUS_INVALID_PARAMETER. `e` must not be a DECIDE_* value. */
enum nt_status nt_status_of(enum error e);
/* Like nt_status_of(), for decisions on a handle: "not found" means that the handle was closed by
 * the server or its file deleted. */
enum nt_status nt_status_of_handle(enum error e);

#endif
