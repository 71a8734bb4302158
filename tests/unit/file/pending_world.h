/* A copy to a file that is pending, and what a job decides about it. */
#ifndef LAGRA_TEST_PENDING_WORLD_H
#define LAGRA_TEST_PENDING_WORLD_H

#include "fixture.h"

#include "file/pending_file.h"

#define LENGTH 200000 /* more than lies in a record */
#define HALF   100000

extern const struct guid the_copy;

/* One decision of a job, of the file "f" of the share "sha". */
struct world {
    struct fixture *f;
    struct guid space;
    struct arena *arena;
    struct partition partition;
    enum act { BEGIN, FIND, SHOW, STEP, COMPLETE, FAIL } act;
    struct guid id;
    uint64_t from, to;   /* STEP */
    struct stage *stage; /* of its bytes */
    struct pending_file found;
};

/* Pending, without any bytes. */
int pending_set_up(void **state);
int pending_tear_down(void **state);
/* One decision and its commit. */
enum error act(struct world *w, enum act what);
/* Bytes of the source are there. */
enum error steps(struct world *w, uint64_t from, uint64_t to);
/* A commit of the file's partition that no job makes. */
void commits(struct world *w, struct changes *changes);

struct reply head(struct world *w);
void assert_status(struct world *w, const char *status, const char *length);
enum store_result read_record(struct world *w, struct pending_file *ret_pending);

#endif
