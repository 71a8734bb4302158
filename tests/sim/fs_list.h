/* Pages of directories and of shares beside the model. */
#ifndef LAGRA_SIM_FS_LIST_H
#define LAGRA_SIM_FS_LIST_H

#include "fs_model.h"

/* The page of a directory: which names there are is of `state`; what is shown of each, of that moment or a
 * later one (decision 332). NULL, or what is wrong. */
const char *fs_compare_files(const struct fs_ask *ask, const struct fs_state *state,
                             const struct reply *answer);
/* An entry of a page. What it says of a length, and whether it says one, are two things. */
struct fs_shown {
    bool is_directory, is_other_case;
    unsigned char name;
    uint64_t id, length, etag;
    bool has_length, has_etag, has_times, has_attributes, has_key;
};
/* Beside the entry that the name had in `state`: what is shown is of that moment or a later one. NULL, or what is
 * wrong. */
const char *fs_compare_shown(const struct fs_shown *shown, const struct fs_state *state,
                             const struct fs_node *entry, uint64_t directory);
/* Was it deleted since `oldest`, and was there a moment in which nothing had its name? */
bool fs_has_gone(const struct fs_node *entry, uint64_t directory, const struct fs_state *oldest);
/* The page of shares: of one state. */
const char *fs_compare_shares(const struct fs_ask *ask, const struct fs_state *state,
                              const struct reply *answer);
/* Beside a state that a page fits, and no other: what it tells of ids, and of versions of deleted shares. NULL, or
 * what is wrong. */
const char *fs_learn_files(const struct fs_ask *ask, const struct fs_state *state,
                           const struct reply *answer);
const char *fs_learn_shares(const struct fs_ask *ask, const struct fs_state *state,
                            const struct reply *answer);
/* The text of an element between two places; false: there is none. */
bool fs_element(const char *from, const char *to, const char *name, char *text, size_t size);

#endif
