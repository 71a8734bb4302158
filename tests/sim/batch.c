/* See batch.h. rest: Blob-Batch "Response Body" */
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool batch_reply(const struct reply *whole, unsigned part, struct reply *ret_reply)
{
    char id[40];
    const char *at, *end, *code;

    whole->body[whole->body_size] = '\0';
    (void)snprintf(id, sizeof id, "Content-ID: %u\r\n", part);
    at = strstr((const char *)whole->body, id);
    at = at ? strstr(at, "HTTP/1.1 ") : NULL;
    end = at ? strstr(at, "\r\n\r\n") : NULL;
    if (!end)
        return false;
    *ret_reply = *whole;
    ret_reply->status = (int)strtol(at + 9, NULL, 10);
    ret_reply->code[0] = '\0';
    ret_reply->etag = 0;
    ret_reply->modified_s = 0;
    code = strstr(at, "x-ms-error-code: ");
    if (code && code < end)
        (void)snprintf(ret_reply->code, sizeof ret_reply->code, "%.*s",
                       (int)strcspn(code + 17, "\r"), code + 17);
    return true;
}
