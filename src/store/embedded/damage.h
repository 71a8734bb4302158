/* A collector of findings of damage, each a sentence for the operator. Startup stops at the first
 * one; a check prints them all. */
#ifndef LAGRA_STORE_EMBEDDED_DAMAGE_H
#define LAGRA_STORE_EMBEDDED_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct damage {
    size_t count;
    char *first;                                      /* NULL means none */
    void (*say)(void *context, const char *sentence); /* NULL means only collected */
    void *context;
};

void damage_found(struct damage *damage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void damage_release(struct damage *damage);

#endif
