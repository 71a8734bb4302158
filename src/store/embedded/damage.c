/* Findings, one sentence each. */
#include "store/embedded/damage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

void damage_found(struct damage *damage, const char *format, ...)
{
    char sentence[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (damage->say)
        damage->say(damage->context, sentence);
    if (damage->count++ == 0)
        damage->first = xstrdup(sentence);
}

void damage_release(struct damage *damage)
{
    free(damage->first);
}
