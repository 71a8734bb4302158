/* Encodes and decodes policies and holds (immutability.h) in the records of blobs and containers,
 * which describe the format. */
#ifndef LAGRA_BLOB_PROTECTION_RECORD_H
#define LAGRA_BLOB_PROTECTION_RECORD_H

#include "blob/blob.h"

/* The policy of a blob that has one. Decoding marks the decoder as bad if it is not valid. */
void policy_encode(struct text *out, const struct blob_immutability *i);
void policy_decode(struct decoder *in, struct blob_immutability *i);
/* Encodes the protection of a container. Decoded strings point into the bytes. */
void protection_encode(struct text *out, const struct container_immutability *i);
void protection_decode(struct decoder *in, struct container_immutability *i);

#endif
