/* Checksums. CRC-32C (Castagnoli) protects pieces on disk; CRC-64 is Azure's x-ms-content-crc64
 * (reflected polynomial 0x9A6C9329AC4BC9B5, initial and final complement; sent as 8 little-endian
 * bytes in base64). Both use CPU instructions if available (SSE4.2, PCLMULQDQ; checked at
 * startup), otherwise tables. Thread-safe. */
#ifndef LAGRA_BASE_CRC_H
#define LAGRA_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* crc: the checksum so far, initially 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);
uint64_t crc64(uint64_t crc, const void *data, size_t len);

/* Returns the checksum of two concatenated strings, the second of `second_len` bytes, from their
 * checksums. */
uint32_t crc32c_join(uint32_t first, uint32_t second, size_t second_len);

#endif
