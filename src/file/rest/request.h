/* Inside file/rest/ only: parts of requests that several operations read. */
#ifndef LAGRA_FILE_REST_REQUEST_H
#define LAGRA_FILE_REST_REQUEST_H

#include "file/share_operations.h"
#include "service/answer.h"

/* The resource that a request's path names. A bearer token for directories and files needs an intent.
 * returns  OK, E_InvalidUri, E_InvalidQueryParameterValue, E_MissingRequiredHeader,
 *          E_InvalidHeaderValue
 * rest: Authorize-with-Azure-Active-Directory, x-ms-file-request-intent */
enum error file_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

/* The account of a rename whose path begins with the share, as that of its source does behind the account; ptr NULL: of any
 * other request. rename.c; decision: 690 */
struct bytes rename_account(const struct call *call);

/* A header that is "true" or "false"; false when it was not sent. E_InvalidHeaderValue */
enum error file_read_flag(struct call *call, const char *name, bool *ret_flag);

/* For operations on the share itself: refuses a snapshot, which cannot be changed.
 * returns  OK, E_ShareSnapshotOperationNotSupported */
enum error refuse_share_snapshot(const struct call *call);

/* The marker of List Directories and Files for a page that begins with this name, and the name of a marker;
 * ptr NULL: it is malformed. list_files.c */
struct bytes file_marker(struct arena *arena, struct bytes name);
struct bytes file_marker_name(struct arena *arena, struct bytes marker);

/* "TransactionOptimized".. Static. */
const char *share_tier_text(enum share_tier tier);
/* Returns the state of a move to another tier, "pending-from-hot"..; NULL: it is in its tier. Static.
 * rest: Get-Share-Properties "x-ms-access-tier-transition-state" */
const char *share_transition_text(const struct call *call, const struct share *share, instant now);

#endif
