/* The entry of every fuzzer, as libFuzzer calls it; standalone.c calls it too. */
#ifndef LAGRA_TESTS_FUZZ_H
#define LAGRA_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
