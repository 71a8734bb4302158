// Whether a program is built with a sanitizer that keeps memory of its own.

import { readFileSync } from 'node:fs';

/** AddressSanitizer keeps what is freed for a while, ThreadSanitizer a shadow of all there is: how
 *  much of such a program is resident says nothing about what it holds. */
export function keepsMemory(binary) {
    const bytes = readFileSync(binary);

    return ['__asan_init', '__tsan_init'].some((symbol) => bytes.includes(symbol));
}
