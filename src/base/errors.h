/* Error responses of the protocols: every wire error code as plain data (errors.def), one row per
 * code. OK is 0. rest: Common-REST-API-Error-Codes, Blob-Service-Error-Codes, and the pages of the
 * other services; messages are those recorded from the real service, if there is a recording. */
#ifndef LAGRA_BASE_ERRORS_H
#define LAGRA_BASE_ERRORS_H

#include "base/bytes.h"

enum error {
    OK = 0,
#define ERROR(name, code, status, message) E_##name,
#include "base/errors.def"
#undef ERROR
    ERROR_COUNT,
    /* Never sent to clients: results of a decision for its caller (request/exchange.c). */
    DECIDE_BLOCKING, /* data is not in memory; decide again on a thread that may block */
    DECIDE_AGAIN,    /* the state that was read has changed; decide again on a newer one */
    /* the container of the change was deleted; decide again, starting above the container */
    DECIDE_GONE,
    DECIDE_WAITS,    /* another change must be made first; decide again after it */
    DECIDE_PREPARED, /* the changes only prepare the operation; commit them and decide again */
};

/* Returns the code, such as "LeaseIdMissing"; "" for OK. */
const char *error_code(enum error e);
/* Returns the HTTP status. ConditionNotMet is 412 here; a read's 304 is E_ConditionNotMetOnRead. */
int error_status(enum error e);
const char *error_message(enum error e);
/* Finds the error with that wire code; if there are several, the first and most general one.
 * Returns false if none exists. */
bool error_find(struct bytes code, enum error *ret_error);

#endif
