/* Commands that ask a running server by its admin socket (admin/admin.h), which row by row of command_rows.c
 * returns an exit status: 0, 1 what was asked failed or no server answers, said on stderr. */
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
/* Of containers, queues, tables, shares: the row's name says which. */
int administer_create(const struct command_call *call);
int administer_list(const struct command_call *call);
int administer_delete(const struct command_call *call);
/* The row's name says of what. */
int administer_sas(const struct command_call *call);

#endif
