/* Internal to transfer/: files of an export and of Azurite's data directory, whose paths come from
 * copied data: no component leads out of the directory, and links are not followed. Thread-safe. */
#ifndef LAGRA_TRANSFER_SAFE_PATH_H
#define LAGRA_TRANSFER_SAFE_PATH_H

#include "base/arena.h"

/* Opens a file by its path, "a/b/c", below the directory. makes: creates or truncates it for
 * writing, with the directories above it.
 *
 * returns -1 with errno; EINVAL: not a valid path */
int safe_path_open(int folder, struct bytes path, bool makes);
/* Returns a path for a name whose components may be any bytes: safe characters unchanged, others as
 * %XX. A name that is too long, or conflicts with a directory, gets a path from its hash (is_plain
 * false). */
struct bytes safe_path_make(struct arena *arena, const char *top, struct bytes parent,
                            struct bytes name, unsigned state, bool is_plain);

#endif
