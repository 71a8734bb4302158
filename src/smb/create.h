/* Shared by the files that implement CREATE: create.c, create_replayed.c, create_new.c,
 * reconnect.c. */
#ifndef LAGRA_SMB_CREATE_H
#define LAGRA_SMB_CREATE_H

#include "smb/commands.h"
#include "handles/durable_handle.h"
#include "smb/create_contexts.h"

#define OPTIONS_MODE 0x0000103Eu /* bits of CreateOptions: MS-FSCC 2.4.26 */

/* Reconnect of a durable open: reconnect.c */
struct reconnect {
    struct disconnected_handle disconnected;
    struct handle_reconnect back;
    struct durable_state state;
    bool is_found; /* the decision of `disconnected` is complete; that of `back` is next */
};

struct create {
    struct handle_open open;
    struct create_contexts contexts;
    struct bytes path; /* UTF-16 as received */
    uint8_t level;
    uint32_t options;
    uint32_t impersonation, share, disposition;
    bool came_back;
    struct reconnect reconnect; /* if requested */
    bool is_replay;             /* replayed create: create_replayed.c */
    struct handle_replay replay;
    struct smb_durable durable; /* as granted */
};

/* Returns the durability to grant for the requested contexts and the caching of the open. */
struct smb_durable durable_of(const struct create *create, bool is_file, bool caches_handle);

/* Finds the open of a create with a CreateGuid, which may still be pending. Returns
 *   STATUS_SUCCESS             *ret_open is the open to replay, or NULL if none exists
 *   STATUS_DUPLICATE_OBJECTID  the create is not flagged as a replay
 *   STATUS_FILE_NOT_AVAILABLE  the first create is still pending
 *   STATUS_ACCESS_DENIED       the open has another lease. ms-smb2: 3.3.5.9.10 */
enum nt_status create_replayed_find(const struct smb_request *request, const struct create *create,
                                    struct smb_open **ret_open);
/* Looks for a disconnected handle of the create; if it exists, treats the create as a reconnect
 * with DH2C. */
void create_replayed_find_disconnected(const struct smb_request *request, struct create *create);
enum smb_step create_replayed_begin(struct smb_request *request, struct create *create,
                                    struct smb_open *open);
enum smb_step create_replayed_decided(struct smb_request *request, struct create *create);

/* Starts a reconnect. Besides the reconnect context, only the name and the lease context of the
 * create are used. request->open is a new open. ms-smb2: 3.3.5.9.7, 3.3.5.9.12 */
enum smb_step reconnect_begin(struct smb_request *request, struct create *create);
/* Starts an ordinary create: create_new.c. request->open is a new open. */
enum smb_step create_new(struct smb_request *request, struct create *create);
enum smb_step reconnect_decided(struct smb_request *request, struct create *create);

#endif
