/* Inside of transfer/ only: files of an export and of Azurite's data folder, whose paths come from what is copied: no part of
 * one leads out of the folder, and links are not followed. Any thread. */
#ifndef LAGRA_TRANSFER_SAFE_PATH_H
#define LAGRA_TRANSFER_SAFE_PATH_H

#include "base/arena.h"

/* Opens a file by its path, "a/b/c", below the folder. makes: with the folders above it, emptied, to be written.
 *
 * returns -1: errno; EINVAL: not a valid path */
int safe_path_open(int folder, struct bytes path, bool makes);
/* A path for a name of which a part may be any bytes: parts as they are where they are safe, else %XX. A name too long, or
 * one that lies where a folder is, gets another one by its hash (is_plain false). */
struct bytes safe_path_make(struct arena *arena, const char *top, struct bytes parent,
                            struct bytes name, unsigned state, bool is_plain);

#endif
