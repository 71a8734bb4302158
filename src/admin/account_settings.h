/* Settings of an account that Azure keeps in its management plane, by the names of `lagra account
 * set` and of "settings" in a seed file. Each setting is stored in one place, where requests read
 * it: the properties of the Blob or File service (properties/service_properties.h), or the record
 * of a stored account (stored_accounts.h). decision: 1437 */
#ifndef LAGRA_ADMIN_ACCOUNT_SETTINGS_H
#define LAGRA_ADMIN_ACCOUNT_SETTINGS_H

#include "admin/stored_accounts.h"
#include "base/json.h"
#include "request/internal_request.h"

enum account_setting {
    SETTING_VERSIONING,          /* versioning: on, off */
    SETTING_BLOB_RETENTION,      /* blobRetentionDays: 1 to 365, off */
    SETTING_PERMANENT_DELETE,    /* permanentDelete: on, off */
    SETTING_CONTAINER_RETENTION, /* containerRetentionDays */
    SETTING_SHARE_RETENTION,     /* shareRetentionDays */
    SETTING_PUBLIC_ACCESS,       /* publicAccess: on, off; only of stored accounts */
    SETTING_SHARED_KEY,          /* sharedKey: on, off; only of stored accounts */
    SETTING_ACCESS_TRACKING,     /* lastAccessTracking: on, off; only of stored accounts */
    ACCOUNT_SETTINGS
};

enum setting_state { SETTING_UNCHANGED, SETTING_OFF, SETTING_ON };

/* New values. */
struct account_settings {
    enum setting_state state[ACCOUNT_SETTINGS];
    uint32_t days[ACCOUNT_SETTINGS]; /* of retentions that are on */
};

/* Adds a setting. Returns NULL, or what is wrong with it (in the arena). */
const char *account_settings_add(struct account_settings *settings, struct arena *arena,
                                 struct bytes name, struct bytes value);
/* Returns true if a setting of the account's record changes. */
bool account_settings_of_record(const struct account_settings *settings);

/* Sets the settings that are service properties, by requests to the services. May block.
 * ret_answer: error, and why, or OK */
void account_settings_apply(const struct endpoint_set *endpoints, struct arena *arena,
                            struct bytes account, const struct account_settings *settings,
                            struct internal_response *ret_answer);
/* Writes the settings that are service properties as members. A service that does not run is
 * omitted. May block. ret_answer: as above; with an error, some members may be missing */
void account_settings_write(const struct endpoint_set *endpoints, struct arena *arena,
                            struct bytes account, struct json_writer *out,
                            struct internal_response *ret_answer);
/* Sets or writes the settings of a stored account's record. */
void account_settings_change_record(const struct account_settings *settings,
                                    struct account_record *record);
void account_settings_write_record(struct json_writer *out, const struct account_record *record);

#endif
