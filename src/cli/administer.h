/* Commands served over the admin socket (admin/admin.h), one function per row of command_rows.c.
 * Each returns the exit status: 0, or 1 with a message on stderr if the operation failed or no
 * server responded. */
#ifndef LAGRA_CLI_ADMINISTER_H
#define LAGRA_CLI_ADMINISTER_H

struct command_call;

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
/* For containers, queues, tables and shares, depending on the row's name. */
int administer_create(const struct command_call *call);
int administer_list(const struct command_call *call);
int administer_delete(const struct command_call *call);
/* Creates the kind of SAS in the row's name. */
int administer_sas(const struct command_call *call);

#endif
