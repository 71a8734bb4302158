/* See protocol.h. */
#include "cluster/protocol.h"

#include <stdio.h>
#include <stdlib.h>

struct protocol_range protocol_own(void)
{
    struct protocol_range own = { PROTOCOL_OLDEST, PROTOCOL_NEWEST };
#ifdef LAGRA_GATES
    const char *other =
        getenv("LAGRA_PROTOCOL_RANGE"); /* a front end of another version, for tests */

    if (other)
        (void)sscanf(other, "%u-%u", &own.oldest, &own.newest);
#endif
    return own;
}

unsigned protocol_common(struct protocol_range one, struct protocol_range other)
{
    unsigned oldest = one.oldest > other.oldest ? one.oldest : other.oldest;
    unsigned newest = one.newest < other.newest ? one.newest : other.newest;

    return oldest <= newest ? newest : 0;
}
