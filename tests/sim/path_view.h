/* What the server read and decided of soft delete and expiry, recorded where it does so (path_seen.c), which includes the
 * server's headers only, since they have names that the model has too. */
#ifndef LAGRA_SIM_PATH_VIEW_H
#define LAGRA_SIM_PATH_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/* Times are ticks; 0 if not known. */
struct path_view {
    uint64_t first, last; /* times of its decisions */
    bool prepares;        /* the next commit only creates the directory of deleted paths */
    bool clears;          /* the next commit only deletes the expired file of the path */
    bool has_policy;      /* the policy was read: */
    unsigned days;        /* 0: nothing is retained */
    uint64_t expires;     /* of a path that is deleted now */
    uint64_t deleted_at;  /* of the path that it deletes */
    uint64_t expiry;      /* of a file that it sets */
};

/* Returns that of the request of the calling thread. */
struct path_view *path_view_here(void);
struct path_view path_view_of(unsigned slot);
/* A request begins. */
void path_view_forget(unsigned slot);
/* Another attempt of the request of the calling thread begins. */
void path_view_attempt(void);
/* Returns the newest time at which the server may have deleted for good what has expired. */
uint64_t path_view_latest(void);

#endif
