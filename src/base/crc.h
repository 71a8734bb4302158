/* Checksums. CRC-32C (Castagnoli) guards pieces on disk; CRC-64 is Azure's x-ms-content-crc64
 * (reflected polynomial 0x9A6C9329AC4BC9B5, initial and final complement; sent as 8 little-endian
 * bytes in base64). Both use the CPU's instructions where it has them (SSE4.2, PCLMULQDQ), chosen
 * at start, tables otherwise. Any thread. */
#ifndef LAGRA_BASE_CRC_H
#define LAGRA_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Both take the value so far, 0 to begin. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);
uint64_t crc64(uint64_t crc, const void *data, size_t len);

/* Of one string and then another of `second_len` bytes, from the values of both. */
uint32_t crc32c_join(uint32_t first, uint32_t second, size_t second_len);

#endif
