/* What the files of CREATE share: create.c, reconnect.c. */
#ifndef LAGRA_SMB_CREATE_H
#define LAGRA_SMB_CREATE_H

#include "file/handle_away.h"
#include "smb/create_contexts.h"

#define OPTIONS_MODE 0x0000103Eu /* of CreateOptions: MS-FSCC 2.4.26 */

/* A client comes back to an open that was kept for it: reconnect.c */
struct reconnect {
    struct handle_away away;
    struct handle_return back;
    struct durable_kept kept;
    bool is_found; /* away has been decided: now back is */
};

struct create {
    struct handle_open open;
    struct create_contexts contexts;
    struct bytes path; /* in UTF-16, as it came */
    uint8_t level;
    uint32_t options;
    uint32_t impersonation, share, disposition;
    bool came_back;
    struct reconnect reconnect; /* if it asks for that */
    bool is_again;              /* it has come before: create_again.c */
    struct handle_again again;
    struct smb_durable durable; /* as answered */
};

/* What is kept of the open if its client goes. In the arena. */
struct bytes open_kept(const struct smb_open *open, struct arena *arena);

/* By what it caches, if it asks for it. */
struct smb_durable durable_of(const struct create *create, bool is_file, bool caches_handle);

/* A create with a GUID: there may be an open of it, or one that is being made.
 * returns STATUS_SUCCESS, and *ret_open, NULL: there is none
 *         STATUS_DUPLICATE_OBJECTID  the client does not say that it sends it once more
 *         STATUS_FILE_NOT_AVAILABLE  it is in work
 *         STATUS_ACCESS_DENIED       it is another lease's. ms-smb2: 3.3.5.9.10 */
enum nt_status create_again_find(const struct smb_request *request, const struct create *create,
                                 struct smb_open **ret_open);
/* The same of one that is kept since its session has ended: the create comes back to it, as with DH2C. */
void create_again_find_kept(const struct smb_request *request, struct create *create);
enum smb_step create_again_begin(struct smb_request *request, struct create *create,
                                 struct smb_open *open);
enum smb_step create_again_decided(struct smb_request *request, struct create *create);

/* The create has a context by which a client comes back; the rest of it does not count, but for its name and its
 * lease. request->open is a new place. ms-smb2: 3.3.5.9.7, 3.3.5.9.12 */
enum smb_step reconnect_begin(struct smb_request *request, struct create *create);
/* create_anew.c: opens; request->open is a new place. */
enum smb_step create_anew(struct smb_request *request, struct create *create);
enum smb_step reconnect_decided(struct smb_request *request, struct create *create);

#endif
