/* Entries of a page of List Blobs. Internal to blob/. */
#ifndef LAGRA_BLOB_REST_LIST_BLOBS_H
#define LAGRA_BLOB_REST_LIST_BLOBS_H

#include "blob/container_operations.h"
#include "service/listing_xml.h"

/* Which parts of an entry this page shows. */
struct blob_view {
    const struct call *call;
    struct bytes container;
    instant now; /* for lease states */
    bool metadata;
    bool tags;
    bool tag_count; /* since 2019-12-12 */
    bool copy;
    bool encrypted;     /* since 2015-12-11 */
    bool encryption;    /* key, since 2019-02-02 */
    bool incremental;   /* since 2016-05-31 */
    bool creation_time; /* since 2017-11-09 */
    bool tier;          /* since 2017-04-17 */
    bool snapshot_tier; /* since 2019-12-12 */
    bool crc64;         /* since 2019-02-02; decision: 43 */
    bool paths;         /* of a hierarchical account */
    bool or_metadata;   /* empty element, since 2019-12-12; decision: 43 */
    bool deleted_lease; /* empty LeaseStatus of deleted blobs, up to 2019-02-02; decision: 43 */
    bool sealed;        /* since 2019-12-12 */
    bool versions;      /* since 2019-12-12 */
    bool versions_only; /* blobs without a current version are shown by their last one */
    bool resource_type; /* of hierarchical accounts, since 2020-10-02 */
    bool permissions;   /* owner, group, permissions and access control list */
    bool directories;   /* properties of directories in a list by delimiter, since 2020-06-12 */
    bool placeholders;  /* since 2021-06-08 */
    bool policy;        /* of retention */
    bool hold;
    bool access_time;   /* of accounts that track the last access */
    bool deleted_first; /* recorded since 2020-02-10; 2018-11-09 has Snapshot first */
};
void blob_entry_xml(struct text *out, const struct blob_view *view, struct bytes name,
                    const struct blob *blob);
/* directory: the directory that the prefix names, or NULL */
void blob_prefix_xml(struct text *out, const struct blob_view *view, struct bytes prefix,
                     const struct blob *directory);

/* Markers of List Blobs and Find Blobs by Tags. Internal to blob/. */

/* Encode bytes in characters that need no escaping in URLs and XML (rfc: 4648 5), and decode them:
 * ptr NULL if the text is invalid. */
struct bytes marker_text(struct arena *arena, struct bytes value);
struct bytes marker_value(struct arena *arena, struct bytes text);

#endif
