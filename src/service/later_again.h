/* Inside service/ only: items that failed. One that was tried and could not be done goes to a later place
 * of the list, with how often that was: so it never keeps others from being done, nothing that it stands
 * for is lost, and a restart does not begin from one. The longer it has failed, the longer it waits.
 *
 *   kind     LATER_AGAIN
 *   payload  1   version (1)
 *            v   how often it has failed
 *            v   the kind that it was added with
 *            bytes  the payload that it was added with
 *
 * decision: 246 */
#ifndef LAGRA_SERVICE_LATER_AGAIN_H
#define LAGRA_SERVICE_LATER_AGAIN_H

#include "base/errors.h"
#include "store/store.h"

/* Numbers of kinds are stored. */
enum { LATER_AGAIN = 2 };

/* From then on each failure has a line in the log. */
#define LATER_FAILURES_LOUD 6u
#define LATER_AGAIN_MAX_S   3600u

struct later_try {
    struct later_item item; /* with the kind and the payload that it was added with */
    unsigned failures;      /* so far */
};
/* False: the item is damaged, logged. */
bool later_try_read(const struct later_item *item, struct later_try *ret_try);

/* Moves the item that failed once more. Waits for disks.
 * now      that it was due at
 * returns  STORE_OK; STORE_NOT_FOUND: its space is dropped; otherwise it is where it was */
enum store_result later_put_off(struct store *store, const struct later_try *failed, enum error why,
                                instant now, struct arena *arena);

#endif
