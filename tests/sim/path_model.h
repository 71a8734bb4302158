/* Model of a hierarchical account, from the reference: the expected response and the changes of a
 * request. It shares no code with src/. There is one state of the entire tree for each commit
 * (model.h). */
#ifndef LAGRA_SIM_PATH_MODEL_H
#define LAGRA_SIM_PATH_MODEL_H

#include "request.h"

#define PATH_PARTS_MAX  48u
#define PATH_STAGED_MAX 64u
/* Files whose content has more parts than this are replaced. */
#define PATH_PARTS_MANY 12u

struct path_stamp {
    uint64_t etag;  /* ticks; 0 if not known yet */
    uint64_t above; /* previous ETag of the path; 0 if not known */
};

/* A file or directory. Never changed, except that its stamp is filled in. */
struct path_node {
    bool is_directory;
    bool is_put; /* its content was not appended */
    struct path_stamp *stamp;
    unsigned value, readers;
    struct path_content parts[PATH_PARTS_MAX];
    unsigned part_count;
    struct path_staged {
        uint32_t position;
        struct path_content content;
    } staged[PATH_STAGED_MAX]; /* ordered by position */
    unsigned staged_count;
    bool is_doubtful; /* a crash may have undone staged bytes, which no request shows */
    bool is_unknown;  /* its bytes are: they were flushed while it was doubtful */
};

struct path_expected {
    int status;
    const char *code; /* NULL if it succeeds */
    bool changes;
    bool either;          /* or InvalidFlushPosition */
    const char *existing; /* x-ms-existing-resource-type, or NULL */
    unsigned place;       /* of the ETag in the response */
};

void path_model_begin(void);
bool path_filesystem_exists(uint64_t commit);
/* Returns NULL if there is none. */
const struct path_node *path_node_at(unsigned place, uint64_t commit);
uint32_t path_length(const struct path_node *node);
/* Returns the newest commit in (from, to], or 0 if there is none. */
uint64_t path_changed_before(uint64_t from, uint64_t to);
struct path_expected path_expect(const struct path_ask *ask, uint64_t commit);
/* Executes the request on the newest state, which gives the new newest state. */
void path_apply(const struct path_ask *ask, uint64_t commit);
/* Returns true if it is unknown whether a recursive delete would need preparation. For scripts. */
bool path_delete_is_doubtful(void);
/* Returns true if the next commit of the request only prepares it: the first recursive delete creates the directory to
 * which deleted directories are moved. Makes that the newest state. */
bool path_prepare(const struct path_ask *ask, uint64_t commit);
/* Records the ETag in a response. Returns NULL, or the defect of the ETag. */
const char *path_fill(const struct path_node *node, uint64_t etag);
/* acknowledged: the newest commit that no crash may undo */
void path_roll_back(uint64_t commit, uint64_t acknowledged);

#endif
