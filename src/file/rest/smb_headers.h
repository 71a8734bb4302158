/* Internal to file/rest/: SMB properties of a directory or file in request and response headers,
 * and headers that all these responses have. */
#ifndef LAGRA_FILE_REST_SMB_HEADERS_H
#define LAGRA_FILE_REST_SMB_HEADERS_H

#include "file/file_operations.h"
#include "service/answer.h"

/* Defaults for headers not sent. */
enum smb_default {
    SMB_OF_NEW,    /* current time, inherited permission, no attributes except Archive for files */
    SMB_OF_CHANGE, /* unchanged, except the change time, which is the current time */
    SMB_OF_COPY    /* as SMB_OF_NEW; "source" copies the value of the source */
};

/* Reads the SMB headers. Rejects headers that are for NFS shares.
 * Returns OK, E_InvalidHeaderValue, E_UnsupportedHeader, as permission_read()
 * rest: Create-File, Create-Directory, Set-File-Properties, Set-Directory-Properties */
enum error smb_read(struct call *call, enum smb_default missing, enum tree_kind kind,
                    struct smb_given *ret_given);
/* Rejects requests without the headers that versions 2019-02-02 to 2021-04-10 require.
 * Returns OK, E_MissingRequiredHeader; rest: Version-2019-02-02, Version-2021-06-08; decision:
 * 883. */
enum error smb_require(struct call *call);
/* Reads the permission headers: permission_operations.c.
 * Returns OK, E_InvalidHeaderValue, E_FileInvalidPermission. */
enum error permission_read(struct call *call, enum permission_kind missing,
                           struct permission_given *ret_given);

/* Formats attributes in bit order, "ReadOnly | Archive" for example; "None" for 0. */
struct bytes smb_attributes_text(struct arena *arena, uint32_t attributes);
/* Adds x-ms-file-attributes etc. and the ids, if the request's version has them. */
void answer_smb(struct answer *a, const struct file_shown *shown);
/* Adds x-ms-request-server-encrypted, for operations that write. */
void answer_encrypted(struct answer *a);
/* Adds the headers of Get File, Get File Properties and Get Directory Properties, except length
 * and MD5. */
void answer_file_properties(struct answer *a, const struct file_shown *shown);

#endif
