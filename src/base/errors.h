/* The protocol's answers: every wire error code as plain data (errors.def), one row a code.
 * OK is 0. rest: Common-REST-API-Error-Codes, Blob-Service-Error-Codes, and the pages of the other
 * services; messages as recorded from the real service where a recording exists. */
#ifndef LAGRA_BASE_ERRORS_H
#define LAGRA_BASE_ERRORS_H

#include "base/bytes.h"

enum error {
    OK = 0,
#define ERROR(name, code, status, message) E_##name,
#include "base/errors.def"
#undef ERROR
    ERROR_COUNT,
    /* Not answers, never on the wire: what a decision says to who runs it (service/exchange.c). */
    DECIDE_BLOCKING, /* something is not in memory: decide where it may be waited for */
    DECIDE_AGAIN,    /* the state that was read is gone: decide on a newer one */
    DECIDE_GONE,     /* what a change was made in was dropped: the same, from above it */
    DECIDE_WAITS,    /* others have to change something first: decide again when they have */
};

/* "LeaseIdMissing"; "" for OK. */
const char *error_code(enum error e);
/* HTTP status. ConditionNotMet is 412 here; a read's 304 is E_ConditionNotMetOnRead. */
int error_status(enum error e);
const char *error_message(enum error e);
/* The first error of that wire code, which is the most general of several. False: there is none. */
bool error_find(struct bytes code, enum error *ret_error);

#endif
