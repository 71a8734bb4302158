/* Checksums: published check values, values that the real service sent, and both ways to compute
 * them against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/crc_private.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* CRC-32C check values. rfc: 3720 12.1; the values are of its appendix B.4 */
static void crc32c_vectors(void **state)
{
    uint8_t data[32];

    (void)state;
    assert_int_equal(crc32c(0, "123456789", 9), 0xE3069283u);
    assert_int_equal(crc32c(0, "", 0), 0);
    memset(data, 0, sizeof data);
    assert_int_equal(crc32c(0, data, sizeof data), 0x8A9136AAu);
    memset(data, 0xFF, sizeof data);
    assert_int_equal(crc32c(0, data, sizeof data), 0x62A8AB43u);
    for (uint8_t i = 0; i < 32; i++)
        data[i] = i;
    assert_int_equal(crc32c(0, data, sizeof data), 0x46DD794Eu);
    for (uint8_t i = 0; i < 32; i++)
        data[i] = (uint8_t)(31 - i);
    assert_int_equal(crc32c(0, data, sizeof data), 0x113FDB5Cu);
}

/* x-ms-content-crc64 as the real service answered it (little-endian), and the check value of
 * CRC-64/NVME, which is the same function. */
static void crc64_vectors(void **state)
{
    static const struct {
        const char *data;
        uint8_t sum[8];
    } vectors[] = {
        { "AAA", { 0x09, 0xCF, 0xF6, 0x2A, 0xBE, 0x03, 0xB8, 0xA8 } },
        { "BBB", { 0xFB, 0x7C, 0xAE, 0x3C, 0x40, 0x3B, 0x22, 0xA1 } },
        { "CCC", { 0x55, 0x12, 0x66, 0x31, 0xEA, 0x2C, 0x54, 0xA6 } },
        { "AAABBBCCC", { 0x0D, 0x39, 0xE0, 0x1E, 0xBB, 0x6F, 0x2D, 0x05 } },
        { "123456789", { 0x88, 0x98, 0x79, 0x0A, 0x86, 0x14, 0x8B, 0xAE } },
        { "", { 0 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        uint64_t sum = htole64(crc64(0, vectors[i].data, strlen(vectors[i].data)));

        assert_memory_equal(&sum, vectors[i].sum, sizeof sum);
    }
}

static uint8_t *random_bytes(size_t size)
{
    static uint8_t bytes[20000];
    uint32_t x = 12345;

    assert_true(size <= sizeof bytes);
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(x >> 24);
    }
    return bytes;
}

/* Every length and every alignment: the CPU's instructions give what the tables give. */
static void ways_agree(void **state)
{
    const uint8_t *data = random_bytes(20000);

    (void)state;
    for (size_t start = 0; start < 9; start++)
        for (size_t length = 0; length < 10000; length += length < 600 ? 1 : 509) {
            uint32_t sum32 = crc32c_portable(7, data + start, length);
            uint64_t sum64 = crc64_portable(7, data + start, length);

            assert_int_equal(crc32c(7, data + start, length), sum32);
            assert_true(crc64(7, data + start, length) == sum64);
#if defined(CRC32C_INSTRUCTION)
            if (crc32c_has_instruction())
                assert_int_equal(crc32c_instruction(7, data + start, length), sum32);
#endif
#if defined(__x86_64__)
            if (crc64_has_pclmul())
                assert_true(crc64_pclmul(7, data + start, length) == sum64);
#endif
        }
}

/* A sum can be made of parts, cut anywhere. */
static void parts(void **state)
{
    const uint8_t *data = random_bytes(4000);
    uint32_t whole32 = crc32c(0, data, 4000);
    uint64_t whole64 = crc64(0, data, 4000);

    (void)state;
    for (size_t cut = 0; cut <= 4000; cut += 7) {
        assert_int_equal(crc32c(crc32c(0, data, cut), data + cut, 4000 - cut), whole32);
        assert_true(crc64(crc64(0, data, cut), data + cut, 4000 - cut) == whole64);
    }
}

/* Joined values are that of all bytes, wherever they are divided. */
static void joined(void **state)
{
    const uint8_t *data = random_bytes(20000);

    (void)state;
    for (size_t cut = 0; cut <= 10000; cut += cut < 20 ? 1 : 333)
        for (size_t length = 0; length <= 10000; length += length < 1100 ? 1 : 1021) {
            uint32_t second = crc32c(0, data + cut, length);

            assert_int_equal(crc32c_join(crc32c(0, data, cut), second, length),
                             crc32c(0, data, cut + length));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_vectors), cmocka_unit_test(crc64_vectors),
        cmocka_unit_test(ways_agree),     cmocka_unit_test(parts),
        cmocka_unit_test(joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
