/* See copy_answer.h. */
#include "service/copy_answer.h"

#include <inttypes.h>

void answer_copy_id(struct answer *a, const struct guid *id, enum copy_status status)
{
    char text[GUID_TEXT_SIZE];

    guid_format(id, text);
    answer_header(a, "x-ms-copy-id", arena_copy(a->arena, bytes_from_string(text)));
    answer_string(a, "x-ms-copy-status", copy_status_text(status));
}

void answer_copy(struct answer *a, const struct copy_state *copy)
{
    if (copy->status == COPY_NONE || !call_since(a->call, "2012-02-12"))
        return;
    answer_copy_id(a, &copy->id, copy->status);
    answer_header(a, "x-ms-copy-source", copy->source);
    answer_header(a, "x-ms-copy-progress",
                  arena_printf(a->arena, "%" PRIu64 "/%" PRIu64, copy->copied, copy->total));
    if (copy->completed > 0)
        answer_date(a, "x-ms-copy-completion-time", copy->completed);
    if (copy->description.len > 0)
        answer_header(a, "x-ms-copy-status-description", copy->description);
}
