/* lagra rados: what the operator of a store on a Ceph cluster does before it is served, and between versions. docs/cluster.md */
#ifndef LAGRA_PROGRAM_RADOS_COMMAND_H
#define LAGRA_PROGRAM_RADOS_COMMAND_H

#include "program/command_rows.h"

extern const struct command_option rados_init_options[];
/* Makes pools and an empty store in them. */
int rados_init_run(const struct command_call *call);
/* Raises the format of one that is there. */
int rados_upgrade_run(const struct command_call *call);

#endif
