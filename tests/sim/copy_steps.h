/* What the service does about copies that are pending, as its steps are called: for the calling
 * thread's request, or on the calling thread if it is a job of the service. */
#ifndef LAGRA_SIM_COPY_STEPS_H
#define LAGRA_SIM_COPY_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#define COPY_ID_SIZE 16

struct copy_steps {
    unsigned char begun[COPY_ID_SIZE]; /* the last that was about to begin */
    /* Of the blob that was about to be written last. */
    uint64_t etag;
    int64_t modified_s;
    /* What the commit that is about to be made ends. */
    bool ends, succeeds;
    unsigned char ended[COPY_ID_SIZE];
};
struct copy_steps *copy_steps(void);

#endif
