/* A copy as headers of answers. */
#ifndef LAGRA_SERVICE_COPY_ANSWER_H
#define LAGRA_SERVICE_COPY_ANSWER_H

#include "service/answer.h"
#include "service/copy_state.h"

/* x-ms-copy-id, x-ms-copy-status */
void answer_copy_id(struct answer *a, const struct guid *id, enum copy_status status);
/* These and all else that is known of the copy that made what is shown; nothing where none did.
 * rest: Get-Blob-Properties, Get-File-Properties "x-ms-copy-id" */
void answer_copy(struct answer *a, const struct copy_state *copy);

#endif
