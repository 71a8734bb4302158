/* Copy properties as response headers. */
#ifndef LAGRA_SERVICE_COPY_ANSWER_H
#define LAGRA_SERVICE_COPY_ANSWER_H

#include "service/answer.h"
#include "service/copy_state.h"

/* Adds x-ms-copy-id and x-ms-copy-status. */
void answer_copy_id(struct answer *a, const struct guid *id, enum copy_status status);
/* Adds all headers of the copy that created the blob or file. Adds nothing if there was no copy.
 * rest: Get-Blob-Properties, Get-File-Properties "x-ms-copy-id" */
void answer_copy(struct answer *a, const struct copy_state *copy);

#endif
