/* MD5 of many streams at once. Each step of MD5 depends on the previous one, so a single stream
 * leaves most of the CPU idle; a step for MD5_LANES streams in vector registers costs little more
 * than a step for one. rfc: 1321 3 */
#ifndef LAGRA_BASE_MD5_H
#define LAGRA_BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define MD5_SIZE        16
#define MD5_BLOCK_BYTES 64
#define MD5_LANES       8 /* streams that are hashed at the cost of one */

struct md5_stream {
    uint32_t state[4];
    uint64_t length;                  /* bytes so far */
    uint8_t partial[MD5_BLOCK_BYTES]; /* the last length % MD5_BLOCK_BYTES bytes */
};

void md5_stream_init(struct md5_stream *stream);
/* Adds data[i] to *streams[i]; a stream appears at most once in the list. Lengths may differ, but
 * the ends of longer data are hashed with fewer lanes in use. Thread-safe. */
void md5_update_many(struct md5_stream *const streams[], const struct bytes data[], size_t count);
/* Returns the digest. The stream must be initialized again before further use. */
void md5_stream_digest(struct md5_stream *stream, uint8_t ret_digest[MD5_SIZE]);
/* Hashes bytes in memory. */
void md5_of(struct bytes data, uint8_t ret_digest[MD5_SIZE]);
/* Hashes 1 to MD5_LANES byte strings; ret_digests[i] has MD5_SIZE bytes. */
void md5_of_many(const struct bytes data[], size_t count, uint8_t *const ret_digests[]);

#endif
