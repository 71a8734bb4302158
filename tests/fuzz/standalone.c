/* Runs a fuzzer without libFuzzer: each file given as it is, then ROUNDS of each with small damage.
 *
 *   PROGRAM ROUNDS FILE..
 *
 * The damage is the same in each run: a failure is repeated by running it again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX (1u << 16)

static uint64_t random_state = 0x9e3779b97f4a7c15u;

/* xorshift64* */
static size_t below(size_t limit)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (size_t)(random_state * 0x2545f4914f6cdd1du >> 33) % limit;
}

/* A byte changed, a run left out, or a run repeated. */
static size_t damage(uint8_t *input, size_t size)
{
    size_t at = below(size + 1), run = 1 + below(8);

    if (run > size - at)
        run = size - at;
    switch (below(3)) {
    case 0:
        if (run > 0)
            input[at] = (uint8_t)below(256);
        return size;
    case 1:
        memmove(input + at, input + at + run, size - at - run);
        return size - run;
    default:
        if (size + run > INPUT_MAX)
            return size;
        memmove(input + at + run, input + at, size - at);
        return size + run;
    }
}

static void run_file(const uint8_t *original, size_t size, unsigned long rounds)
{
    static uint8_t input[INPUT_MAX];

    LLVMFuzzerTestOneInput(original, size);
    for (unsigned long i = 0; i < rounds; i++) {
        size_t length = size;

        memcpy(input, original, size);
        for (size_t n = 1 + below(4); n > 0; n--)
            length = damage(input, length);
        LLVMFuzzerTestOneInput(input, length);
    }
}

int main(int argc, char **argv)
{
    static uint8_t original[INPUT_MAX];

    if (argc < 3) {
        fprintf(stderr, "usage: %s ROUNDS FILE..\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rbe");
        size_t size;

        if (!file) {
            perror(argv[i]);
            return 1;
        }
        size = fread(original, 1, sizeof original, file);
        fclose(file);
        run_file(original, size, strtoul(argv[1], NULL, 10));
    }
    return 0;
}
