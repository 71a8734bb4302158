/* What SMB answers: NT statuses as one table (status.def), and what each answer of a decision
 * (base/errors.def) is to an SMB client. Any thread. ms-erref: 2.3.1 */
#ifndef LAGRA_SMB_STATUS_H
#define LAGRA_SMB_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"

/* Ordinals; the numbers of the wire are nt_status_value()'s. STATUS_SUCCESS is 0. */
enum nt_status {
#define NT_STATUS(name, value) name,
#include "smb/status.def"
#undef NT_STATUS
    NT_STATUS_COUNT,
};

uint32_t nt_status_value(enum nt_status status);
/* "STATUS_ACCESS_DENIED": for logs. */
const char *nt_status_name(enum nt_status status);
/* Severity "error" (ms-erref: 2.3): a compound's related commands fail with it; a body of its
 * own is an error's. */
bool nt_status_is_error(enum nt_status status);

/* Of a decision about a file, directory or share. What only other services answer, and what only
 * HTTP can be wrong in, is STATUS_INVALID_PARAMETER; none of the DECIDE_ values may come here. */
enum nt_status nt_status_of(enum error e);
/* Of a decision by a handle: what is not found is the handle, which was closed by force, or its
 * file is gone. */
enum nt_status nt_status_of_handle(enum error e);

#endif
