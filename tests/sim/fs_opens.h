/* What SMB clients have open in a state of the tree, and what goes on beside it, whether it comes by REST or by
 * SMB: Azure's page "Manage file locks", as semantics.md 8.2 to 8.4 have it. It shares no code with src/. */
#ifndef LAGRA_SIM_FS_OPENS_H
#define LAGRA_SIM_FS_OPENS_H

#include "fs_model.h"

/* What an operation does to a file, and what it bears beside it: an open that lasts no time. */
struct fs_use {
    unsigned access, share; /* MAY_* */
    bool needs_no_open;     /* not even one for attributes */
    /* CACHES_*: what nobody else keeps; what is waited for. semantics 8.4 */
    unsigned breaks_caching, waits_for;
    bool ignores_pending;
    bool changes_nothing; /* of what it is about: a read of REST */
    bool is_rename;       /* renames: of an oplock that caches handles nothing is left */
    bool has_waited;      /* an open of SMB: goes on when no break is under way any more */
    bool changes_data;    /* by a handle, whose own level II oplock goes, too */
    uint64_t own;         /* the open whose caching it spares; 0: none */
};
/* What stands in its way. */
enum fs_bar {
    FS_NOTHING_BARS,
    FS_DELETE_IS_PENDING,
    FS_IS_NOT_SHARED,
    FS_OTHERS_CACHE, /* they are asked to give it up, and waited for */
};

/* Of an operation of REST on the file that its path names, or on what it replaces there. */
struct fs_use fs_use_of(const struct fs_ask *ask);
/* The same of the file that a rename or a copy is from. */
struct fs_use fs_use_of_source(const struct fs_ask *ask);
enum fs_bar fs_beside_opens(const struct fs_state *state, const struct fs_node *node,
                            const struct fs_use *use);
/* How many opens there are of the file, and locks. */
unsigned fs_opens_count(const struct fs_state *state, const struct fs_node *node);
unsigned fs_locks_count(const struct fs_state *state, const struct fs_node *node);
/* Does a lock of the file keep a read of these slots by an open from it, or a write? open: 0: of REST, which writes
 * nothing while there is any lock. decision: 337 */
bool fs_locks_bar_read(const struct fs_state *state, const struct fs_node *node, uint64_t open,
                       unsigned from, unsigned to);
bool fs_locks_bar_write(const struct fs_state *state, const struct fs_node *node, uint64_t open,
                        unsigned from, unsigned to);
/* And another lock? */
bool fs_locks_bar_lock(const struct fs_state *state, const struct fs_node *node,
                       const struct fs_lock *wanted);
/* Exactly that range, as it is released: the exclusive one, or else the newest. NULL: there is none */
const struct fs_lock *fs_lock_of(const struct fs_state *state, uint64_t open, unsigned from,
                                 unsigned to);
/* Releases it: there is one. */
void fs_unlock(struct fs_state *state, uint64_t open, unsigned from, unsigned to);
/* What passed since fs_passes_begin(), and at last perhaps has to wait: whoever goes on asks for what others cache. */
struct fs_passes {
    unsigned count;
    struct {
        uint64_t node;
        struct fs_use use;
    } of[6];
};
void fs_passes_begin(void);
struct fs_passes fs_passes(void);
/* Asks them, in the newest state. only_last: of the one that waits */
void fs_ask_others(struct fs_state *state, const struct fs_passes *passes, bool only_last);
/* Does the last of them ask anybody for anything new? */
bool fs_asks_anything(const struct fs_state *state, const struct fs_passes *passes);
/* A client's answer. False: nothing was asked of it, or it may not keep that. */
bool fs_acknowledge_break(struct fs_open *open, unsigned keeps);
/* What a new open of the file may cache of what it would like. MS-FSA 2.1.5.18 */
unsigned fs_grant(const struct fs_state *state, uint64_t node, unsigned wants, bool is_oplock);
/* The code of REST; NULL: nothing bars it. */
const char *fs_bar_code(enum fs_bar bar);

bool fs_is_open(const struct fs_state *state, const struct fs_node *node);
/* The open with this id; NULL: it is closed. */
const struct fs_open *fs_open_of(const struct fs_state *state, uint64_t id);
/* The same in a state that is being made. */
struct fs_open *fs_open_in(struct fs_state *state, uint64_t id);
/* Its file; NULL: it is closed. */
const struct fs_node *fs_opened_node(const struct fs_state *state, uint64_t id);
/* Its client has lost the connection. What it was asked for it has given up by that. */
void fs_leave_open(struct fs_open *open);
/* A process has begun: those that persist are there, without their clients. What their clients could have written
 * back is looked for by a read of each file (fs_judge_take_stock()), so they have lost that. */
void fs_opens_of_before(struct fs_state *state);
/* The file goes with the last one, if it is to; a directory, if it is empty. MS-FSA 2.1.5.5 */
void fs_close_open(struct fs_state *state, struct fs_open *open);
/* The newest open that was asked for by that; NULL: there is none. */
const struct fs_open *fs_open_created(const struct fs_state *state, uint64_t create);
/* With its locks. */
void fs_end_open(struct fs_state *state, struct fs_open *open);
const struct fs_open *fs_open_of_client(const struct fs_state *state, unsigned client,
                                        uint64_t volatile_id);

#endif
