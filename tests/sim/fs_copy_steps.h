/* What a job of the service that copies a file is about to commit, as its decision has it (ld --wrap). */
#ifndef LAGRA_SIM_FS_COPY_STEPS_H
#define LAGRA_SIM_FS_COPY_STEPS_H

#include "copy_terms.h"
#include "fs_ask.h"

struct fs_copy_step {
    enum {
        FS_COPIES_NOTHING,
        FS_COPIES_STEP,
        FS_COPIES_ALL,
        FS_COPY_FAILS,
        FS_COPY_WAITS, /* for SMB clients of the file, to end */
        FS_COPY_WAITS_TO_READ
    } kind;
    struct copy_id id;
    uint64_t from, to; /* bytes, of a step */
    uint64_t etag;     /* of a file whose copy ends */
    /* In the states since the job began to read: was the source what the copy began with, and was it not? */
    bool was_there, was_away;
};

/* Of the calling thread; it is forgotten. */
struct fs_copy_step fs_copy_step(void);
/* Of a commit that a job of another thread began some time ago: before it is judged. */
void fs_copy_step_put(const struct fs_copy_step *step);
/* A decision of the calling thread's job waits for SMB clients: of its source. */
void fs_copy_waits_to_read(void);
/* Called where a job begins to read: what it reads is there from then on. */
void fs_copy_reads(const struct copy_id *id);
/* What the job has seen of its source by now. */
void fs_copy_saw(struct fs_copy_step *step);

#endif
