/* What operators see of an account. Internal to admin/. */
#ifndef LAGRA_ADMIN_ACCOUNT_SHOW_H
#define LAGRA_ADMIN_ACCOUNT_SHOW_H

#include "admin/admin_private.h"
#include "admin/stored_accounts.h"

/* Names and units of the limits for operators, in the order of enum account_limit. */
struct account_limit_row {
    const char *name;
    unsigned shift; /* 20 for MiB */
};
extern const struct account_limit_row account_limit_rows[ACCOUNT_LIMITS];

/* Writes a stored account, without its keys. */
void account_write_record(struct admin_call *call, const struct account_record *record);
/* Fails the call with an error of stored_account_change() or stored_account_read(). */
void account_fail(struct admin_call *call, enum error e, struct bytes name);

#endif
