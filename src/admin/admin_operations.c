/* The table of operations for operators: see admin.h. */
#include "admin/admin_private.h"
#include "admin/restore_state.h"

/* clang-format off */
const struct admin_operation admin_operations[] = {
    /* name          arguments required, maximum body */
    { "status",      { NULL },          0, 0, admin_status },
    { "config",      { NULL },          0, 0, admin_config },
    { "slowest",     { NULL },          0, 0, admin_slowest },
    { "todo",        { NULL },          0, 0, admin_todo },
    { "log-level",   { "level" },       1, 0, admin_log_level },
    { "console-link", { NULL },         0, 0, admin_console_link },
    { "backup-begin", { NULL },         0, 0, admin_backup_begin },
    { "backup-hold", { "id", "extent" }, 1, 0, admin_backup_hold },
    { "backup-end",  { "id" },          1, 0, admin_backup_end },
    { "backup-state", { NULL },         0, 0, admin_backup_state },
    { "restore-begin", { "kind", "account", "name", "replace" }, 3, 0, admin_restore_begin },
    { "restore-put", { NULL }, 0, RESTORE_BATCH_MAX, admin_restore_put },
    { "restore-end", { "id" }, 1, 0, admin_restore_end },
    { "restore-cancel", { "id" }, 1, 0, admin_restore_cancel },
    { "scrub", { "rate" }, 0, 0, admin_scrub },
    { "scrub-state", { NULL }, 0, 0, admin_scrub_state },
    { "usage", { NULL }, 0, 0, admin_usage },
    { "account-add", { "name", "key1", "key2" }, 1, 0, admin_account_add },
    { "account-list", { NULL }, 0, 0, admin_account_list },
    { "account-show", { "name" }, 1, 0, admin_account_show },
    { "account-set", { "name", "state", "key1", "key2", "requests", "bandwidth", "capacity", "containers" }, 1, 0, admin_account_set },
    { "account-rotate-key", { "name", "key" }, 2, 0, admin_account_rotate_key },
    { "account-sign", { "name", "text", "key" }, 2, 0, admin_account_sign },
    { "container-create", { "name", "account", "access" }, 1, 0, admin_resource_create },
    { "container-list", { "account", "prefix", "marker", "all" }, 0, 0, admin_resource_list },
    { "container-delete", { "name", "account" }, 1, 0, admin_resource_delete },
    { "queue-create", { "name", "account" }, 1, 0, admin_resource_create },
    { "queue-list", { "account", "prefix", "marker" }, 0, 0, admin_resource_list },
    { "queue-delete", { "name", "account" }, 1, 0, admin_resource_delete },
    { "table-create", { "name", "account" }, 1, 0, admin_resource_create },
    { "table-list", { "account", "marker", "all" }, 0, 0, admin_resource_list },
    { "table-delete", { "name", "account" }, 1, 0, admin_resource_delete },
    { "share-create", { "name", "account", "quota" }, 1, 0, admin_resource_create },
    { "share-list", { "account", "prefix", "marker" }, 0, 0, admin_resource_list },
    { "share-delete", { "name", "account" }, 1, 0, admin_resource_delete },
};
/* clang-format on */
const size_t admin_operation_count = sizeof admin_operations / sizeof admin_operations[0];
