/* Reads and writes integers with a fixed byte order at any address: big-endian (be) for keys, so
 * that bytewise order is numeric order; little-endian (le) for files and values. Thread-safe. */
#ifndef LAGRA_BASE_ENDIAN_H
#define LAGRA_BASE_ENDIAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define ENDIAN_HELPERS(order, bits, type, to_order, to_host)                                       \
    static inline void order##bits##_put(void *to, type value)                                     \
    {                                                                                              \
        value = to_order(value);                                                                   \
        memcpy(to, &value, sizeof value);                                                          \
    }                                                                                              \
    static inline type order##bits##_get(const void *from)                                         \
    {                                                                                              \
        type value;                                                                                \
                                                                                                   \
        memcpy(&value, from, sizeof value);                                                        \
        return to_host(value);                                                                     \
    }

ENDIAN_HELPERS(be, 16, uint16_t, htobe16, be16toh)
ENDIAN_HELPERS(be, 32, uint32_t, htobe32, be32toh)
ENDIAN_HELPERS(be, 64, uint64_t, htobe64, be64toh)
ENDIAN_HELPERS(le, 16, uint16_t, htole16, le16toh)
ENDIAN_HELPERS(le, 32, uint32_t, htole32, le32toh)
ENDIAN_HELPERS(le, 64, uint64_t, htole64, le64toh)

#undef ENDIAN_HELPERS

#endif
