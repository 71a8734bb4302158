/* Inside file/rest/ only: SMB properties of a directory or file as headers, and what all answers about them
 * have in common. */
#ifndef LAGRA_FILE_REST_SMB_HEADERS_H
#define LAGRA_FILE_REST_SMB_HEADERS_H

#include "file/file_operations.h"
#include "service/answer.h"

/* The meaning of a header that was not sent. */
enum smb_default {
    SMB_OF_NEW,    /* now, inherited, no attributes but Archive of a file */
    SMB_OF_CHANGE, /* unchanged, but for the change time, which is now */
    SMB_OF_COPY    /* as SMB_OF_NEW; "source": as the source has it */
};

/* Also refuses the headers that are for shares of NFS.
 * returns OK, E_InvalidHeaderValue, E_UnsupportedHeader, as permission_read()
 * rest: Create-File, Create-Directory, Set-File-Properties, Set-Directory-Properties */
enum error smb_read(struct call *call, enum smb_default missing, enum tree_kind kind,
                    struct smb_given *ret_given);
/* Refuses a request without the headers that versions 2019-02-02 to 2021-04-10 require.
 * returns OK, E_MissingRequiredHeader; rest: Version-2019-02-02, Version-2021-06-08; decision: 883 */
enum error smb_require(struct call *call);
/* Reads the headers for permissions: permission.c.
 * returns OK, E_InvalidHeaderValue, E_FileInvalidPermission */
enum error permission_read(struct call *call, enum permission_kind missing,
                           struct permission_given *ret_given);

/* "ReadOnly | Archive": in the order of their bits; "None". */
struct bytes smb_attributes_text(struct arena *arena, uint32_t attributes);
/* x-ms-file-attributes and so on, with the ids, for callers of versions that have them. */
void answer_smb(struct answer *a, const struct file_shown *shown);
/* A time as SMB shows it. */
void answer_file_time(struct answer *a, const char *name, instant time);
/* x-ms-request-server-encrypted: of operations that write. */
void answer_encrypted(struct answer *a);
/* The headers of Get File, Get File Properties and Get Directory Properties, but for length and MD5. */
void answer_file_properties(struct answer *a, const struct file_shown *shown);

#endif
