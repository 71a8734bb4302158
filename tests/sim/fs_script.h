/* What clients of the File service do next, from the seed. */
#ifndef LAGRA_SIM_FS_SCRIPT_H
#define LAGRA_SIM_FS_SCRIPT_H

#include "request.h"

struct draws;

void fs_script_draw(unsigned client, unsigned number, struct ask *ret_ask);
/* A path of names, whether or not it leads anywhere; one of a file that is there, if there is any. */
struct fs_path fs_script_new_path(struct draws *draws);
struct fs_path fs_script_known_path(struct draws *draws);
struct fs_path fs_script_known_directory(struct draws *draws);
/* One in a directory that is there. */
struct fs_path fs_script_path_in_known(struct draws *draws);

#endif
