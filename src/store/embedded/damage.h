/* What was found damaged: each finding is a sentence for the operator. A start is refused by the
 * first; a check prints them all. */
#ifndef LAGRA_STORE_EMBEDDED_DAMAGE_H
#define LAGRA_STORE_EMBEDDED_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct damage {
    size_t count;
    char *first;                                      /* NULL: none */
    void (*say)(void *context, const char *sentence); /* NULL: nobody listens */
    void *context;
};

void damage_found(struct damage *damage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void damage_release(struct damage *damage);

#endif
