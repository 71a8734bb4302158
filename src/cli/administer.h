/* Functions of the commands in command_rows.h, and their options. Each function returns the exit
 * status: 0, or 1 after printing a message on stderr if the operation failed or no server
 * responded. */
#ifndef LAGRA_CLI_ADMINISTER_H
#define LAGRA_CLI_ADMINISTER_H

#include "cli/command_rows.h"

/* ---- administer.c, administer_sas.c: commands over the admin socket (admin/admin.h) ---- */

int administer_status(const struct command_call *call);
int administer_slowest(const struct command_call *call);
int administer_log_level(const struct command_call *call);
int administer_console(const struct command_call *call);
int administer_usage(const struct command_call *call);
int administer_account_add(const struct command_call *call);
int administer_account_list(const struct command_call *call);
int administer_account_show(const struct command_call *call);
int administer_account_set(const struct command_call *call);
int administer_account_rotate_key(const struct command_call *call);
int administer_account_disable(const struct command_call *call);
int administer_account_scope(const struct command_call *call);
/* Create, list or delete containers, queues, tables or shares; the row's name determines the
 * kind. */
int administer_create(const struct command_call *call);
int administer_list(const struct command_call *call);
int administer_delete(const struct command_call *call);
int administer_container_show(const struct command_call *call);
int administer_container_protect(const struct command_call *call);
/* Creates a SAS of the kind in the row's name. */
int administer_sas(const struct command_call *call);

/* ---- backup.c ---- */

/* `lagra backup`, `backup verify`, `backup restore` (backup/backup.h); rows of command_rows.h. */
extern const struct command_option back_up_options[], back_up_copy_options[];

int back_up(const struct command_call *call);
int back_up_verify(const struct command_call *call);
int back_up_restore(const struct command_call *call);

/* ---- restore.c ---- */

/* Restores part of a backup into a running server (admin/restore_state.h). This process reads the
 * backup, so the server need not have access to it. docs/backup.md */
extern const struct command_option restore_options[], restore_all_options[];
/* Restore a container, queue, table or share, depending on the row's name, or everything in an
 * account. Each returns the exit status. */
int restore_run(const struct command_call *call);
int restore_all(const struct command_call *call);

/* ---- import.c ---- */

/* Copies an account into a server, or from a server to files. docs/import.md */
extern const struct command_option import_options[], export_options[];
/* Each returns the exit status: 0 if everything was copied and matches the source. */
int import_run(const struct command_call *call);
int export_run(const struct command_call *call);

/* ---- snapshots.c ---- */

/* `lagra snapshot`: saves and restores the state of a server with --testing
 * (docs/fault-injection.md). Uses the management port, because a server with its data in memory has
 * no admin socket. Each function returns the exit status. */
extern const struct command_option snapshots_options[];

int snapshots_save(const struct command_call *call);
int snapshots_load(const struct command_call *call);
int snapshots_delete(const struct command_call *call);
int snapshots_list(const struct command_call *call);

/* ---- cluster_command.c ---- */

/* `lagra cluster`: operations on the directory of a cluster. docs/cells.md */
extern const struct command_option cluster_init_options[];
extern const struct command_option cluster_evict_options[];

/* Each returns the exit status. */
int cluster_init_run(const struct command_call *call);
int cluster_add_cell_run(const struct command_call *call);
int cluster_place_run(const struct command_call *call);
int cluster_status_run(const struct command_call *call);
int cluster_rotate_key_run(const struct command_call *call);
int cluster_evict_run(const struct command_call *call);

/* ---- scrub.c ---- */

/* `lagra scrub`: starts a scrub on a running server (admin/scrubber.h). */
extern const struct command_option scrub_options_of_command[];

int scrub_run(const struct command_call *call);

#endif
