/* Encodes and decodes parts of the records of blobs and containers, which describe the format. */
#ifndef LAGRA_BLOB_RECORD_PARTS_H
#define LAGRA_BLOB_RECORD_PARTS_H

#include "blob/blob.h"

/* Encodes the policy of a blob that has one. Decoding marks the decoder as bad if it is not valid. */
void policy_encode(struct text *out, const struct blob_immutability *i);
void policy_decode(struct decoder *in, struct blob_immutability *i);
/* Encodes the protection of a container. Decoded strings point into the bytes. */
void protection_encode(struct text *out, const struct container_immutability *i);
void protection_decode(struct decoder *in, struct container_immutability *i);
/* Encodes what an incremental copy has recorded. */
void incremental_encode(struct text *out, const struct incremental_copy *copy);
void incremental_decode(struct decoder *in, struct incremental_copy *copy);

#endif
