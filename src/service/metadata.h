/* Metadata: the x-ms-meta-* headers of a request as one encoded run, and back to headers.
 * Encoded: (varint name length, name, varint value length, value)*, in the order sent; names keep
 * their case. rest: Setting-and-Retrieving-Properties-and-Metadata-for-Blob-Resources; at most 8
 * KiB names and values together. */
#ifndef LAGRA_SERVICE_METADATA_H
#define LAGRA_SERVICE_METADATA_H

#include "service/answer.h"
#include "service/metadata_run.h"

#define METADATA_MAX_BYTES 8192

/* returns OK, E_MetadataTooLarge, E_InvalidMetadata (name not a C# identifier, duplicate),
 * E_EmptyMetadataKey */
enum error metadata_from_headers(struct call *call, struct bytes *ret_metadata);
/* Adds x-ms-meta-NAME headers to the answer. */
void metadata_answer(struct answer *a, struct bytes metadata);
/* <Metadata><name>value</name>..</Metadata>; <Metadata /> when empty. */
void metadata_xml(struct text *out, struct bytes metadata);

#endif
