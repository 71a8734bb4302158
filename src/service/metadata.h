/* Converts metadata between the x-ms-meta-* headers of requests and responses and an encoded run.
 * Encoding: (varint name length, name, varint value length, value)*, in the order sent. Names keep
 * their case. Names and values together have at most 8 KiB. rest:
 * Setting-and-Retrieving-Properties-and-Metadata-for-Blob-Resources */
#ifndef LAGRA_SERVICE_METADATA_H
#define LAGRA_SERVICE_METADATA_H

#include "service/answer.h"
#include "service/metadata_run.h"

#define METADATA_MAX_BYTES 8192

/* Encodes the metadata headers of a request.
 * Returns OK, E_MetadataTooLarge, E_InvalidMetadata (name not a C# identifier, duplicate),
 * E_EmptyMetadataKey. */
enum error metadata_from_headers(struct call *call, struct bytes *ret_metadata);
/* Appends a pair to an encoded run, and its size to *total.
 * Returns  OK, E_MetadataTooLarge, E_InvalidMetadata, E_EmptyMetadataKey. */
enum error metadata_add(struct call *call, struct text *run, size_t *total, struct bytes name,
                        struct bytes value);
/* Adds x-ms-meta-NAME headers to the response. */
void metadata_answer(struct answer *a, struct bytes metadata);
/* Writes <Metadata><name>value</name>..</Metadata>, or <Metadata /> if empty. */
void metadata_xml(struct text *out, struct bytes metadata);

#endif
