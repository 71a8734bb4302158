/* A hierarchical account as the reference describes it: what a request must be answered, and what it
 * changes. It shares no code with src/. A state is that of the whole tree, one for each commit
 * (model.h). */
#ifndef LAGRA_SIM_PATH_MODEL_H
#define LAGRA_SIM_PATH_MODEL_H

#include "request.h"

#define PATH_PARTS_MAX  48u
#define PATH_STAGED_MAX 64u
/* Contents with more parts than this are written anew. */
#define PATH_PARTS_MANY 12u

struct path_stamp {
    uint64_t etag;  /* ticks; 0: not known yet */
    uint64_t above; /* that the path had before it; 0: not known */
};

/* A file or directory. Never changed, but for what a stamp is filled with. */
struct path_node {
    bool is_directory;
    bool is_put; /* its content is not that of appends */
    struct path_stamp *stamp;
    unsigned value, readers;
    struct path_content parts[PATH_PARTS_MAX];
    unsigned part_count;
    struct path_staged {
        uint32_t position;
        struct path_content content;
    } staged[PATH_STAGED_MAX]; /* in order of positions */
    unsigned staged_count;
    bool is_doubtful; /* a crash may have taken what is staged back, which no request shows */
    bool is_unknown;  /* its bytes, since they come from that */
};

struct path_expected {
    int status;
    const char *code; /* NULL: success */
    bool changes;
    bool either;          /* or InvalidFlushPosition */
    const char *existing; /* x-ms-existing-resource-type; NULL: none */
    unsigned place;       /* of the ETag in the answer */
};

void path_model_begin(void);
bool path_filesystem_exists(uint64_t commit);
/* NULL: there is none. */
const struct path_node *path_node_at(unsigned place, uint64_t commit);
uint32_t path_length(const struct path_node *node);
/* The newest commit in (from, to]; 0: none. */
uint64_t path_changed_before(uint64_t from, uint64_t to);
struct path_expected path_expect(const struct path_ask *ask, uint64_t commit);
/* Makes what follows from it the newest state. */
void path_apply(const struct path_ask *ask, uint64_t commit);
/* Returns true if nobody knows whether a recursive delete would have to be prepared, for scripts. */
bool path_delete_is_doubtful(void);
/* Returns true if the next commit of the ask only prepares it: the first directory that is deleted with what is in it
 * needs a directory to go to. Makes that the newest state. */
bool path_prepare(const struct path_ask *ask, uint64_t commit);
/* An answer tells the ETag. NULL, or what is wrong with it. */
const char *path_fill(const struct path_node *node, uint64_t etag);
/* acknowledged: the newest commit that no crash may take back */
void path_roll_back(uint64_t commit, uint64_t acknowledged);

#endif
