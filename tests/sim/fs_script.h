/* What clients of the File service do next, from the seed. */
#ifndef LAGRA_SIM_FS_SCRIPT_H
#define LAGRA_SIM_FS_SCRIPT_H

struct ask;

void fs_script_draw(unsigned client, unsigned number, struct ask *ret_ask);

#endif
