/* The implementations of each CRC. Internal to crc*.c and their tests. */
#ifndef LAGRA_BASE_CRC_PRIVATE_H
#define LAGRA_BASE_CRC_PRIVATE_H

#include <endian.h>
#include <stdbool.h>

#include "base/crc.h"

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t len);
uint64_t crc64_portable(uint64_t crc, const void *data, size_t len);

#if defined(__x86_64__) || (defined(__aarch64__) && !defined(__AARCH64EB__))
#define CRC32C_INSTRUCTION /* available on some CPUs */
/* Requires crc32c_has_instruction(). */
uint32_t crc32c_instruction(uint32_t crc, const void *data, size_t len);
bool crc32c_has_instruction(void);
#endif

#if defined(__x86_64__)
/* Requires crc64_has_pclmul(). */
uint64_t crc64_pclmul(uint64_t crc, const void *data, size_t len);
bool crc64_has_pclmul(void);
#endif

#endif
