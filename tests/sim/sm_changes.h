/* What happens in a directory that is watched, as the states of the tree show it: of sm_watch.c alone. */
#ifndef LAGRA_SIM_SM_CHANGES_H
#define LAGRA_SIM_SM_CHANGES_H

#include "fs_model.h"

#define SM_CHANGES_MAX 1024u
#define SM_NEVER       UINT64_MAX

/* CompletionFilter: MS-SMB2 2.2.35; Action: MS-FSCC 2.7.1 */
enum { SM_OF_FILES = 0x1u, SM_OF_DIRECTORIES = 0x2u, SM_OF_SIZES = 0x8u };
enum { SM_ADDED = 1, SM_REMOVED, SM_MODIFIED, SM_OLD_NAME, SM_NEW_NAME };

struct sm_change {
    unsigned action; /* SM_OLD_NAME: the next one is SM_NEW_NAME */
    const char *name;
    unsigned above; /* directories between it and the one that is watched */
    bool is_due;    /* it has to be told */
    uint64_t at_ns;
};

struct sm_watched {
    uint64_t open; /* of the model; 0: there is none */
    uint64_t directory;
    uint32_t filter, room;
    bool is_recursive;
    uint64_t order; /* of its beginning; SM_NEVER: nobody knows it */
    bool has_gone;  /* the directory; it is to be deleted, or is */
    uint64_t gone_ns;
    /* The newest request. */
    uint64_t message_id, async_id;
    uint32_t room_now;
    bool has_come, waits, is_cancelled, is_closing;
    uint32_t status;
    unsigned count;
    struct sm_change changes[SM_CHANGES_MAX];
};

/* What the commit that made one state of the other is for the watch. order: of its request; 0: nobody knows it */
void sm_changes_add(struct sm_watched *watch, const struct fs_state *old,
                    const struct fs_state *new, uint64_t order);

#endif
