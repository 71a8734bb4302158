/* Log events other than requests executed here: SMB commands, forwarded requests, background
 * copies. */
#include "observe/access_event.h"
#include "observe/access_log.h"

static void put_texts(unsigned logs, const struct access_event *filled,
                      struct bytes texts[EVENT_TEXTS])
{
    struct access_event *event;
    size_t size = sizeof *event;

    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        if (texts[i].len > EVENT_TEXT_MAX)
            texts[i].len = EVENT_TEXT_MAX;
        size += texts[i].len;
    }
    event = event_begin(logs, size);
    if (!event)
        return;
    *event = *filled;
    access_event_put(event, texts);
    event_finish();
}

static void put(unsigned logs, const struct access_event *filled, struct bytes account,
                struct bytes path, struct bytes client)
{
    struct bytes texts[EVENT_TEXTS] = {
        [TEXT_ACCOUNT] = account, [TEXT_PATH] = path, [TEXT_CLIENT] = client
    };

    put_texts(logs, filled, texts);
}

void access_log_forwarded(const struct forwarded_request *forwarded)
{
    const struct request *request = forwarded->request;
    const struct access_event event = { .kind = EVENT_OF_FORWARD,
                                        .began = clock_wall() - forwarded->ns / 100,
                                        .service = forwarded->service,
                                        .code = forwarded->result,
                                        .request = request->id,
                                        .cell = forwarded->cell,
                                        .waited_ns = forwarded->waited_ns,
                                        .status = forwarded->status,
                                        .all_ns = forwarded->ns,
                                        .received = forwarded->received,
                                        .sent = forwarded->sent };
    unsigned logs = event_logs_on() & (1u << EVENTS_ACCESS | 1u << EVENTS_SLOW);
    struct bytes texts[EVENT_TEXTS] = {
        [TEXT_METHOD] = request->method_text,
        [TEXT_PATH] = request->path,
        [TEXT_CLIENT] = request->peer,
        [TEXT_CLIENT_REQUEST] =
            request_find_header(request, (struct bytes)BYTES("x-ms-client-request-id")),
        [TEXT_VIA] = bytes_from_string(forwarded->to),
    };

    if (!access_log_is_slow(forwarded->ns))
        logs &= ~(1u << EVENTS_SLOW);
    if (logs)
        put_texts(logs, &event, texts);
}

void access_log_copy(const char *service, const struct guid *id, struct bytes source, enum error e)
{
    const struct access_event event = { .kind = EVENT_OF_SERVER,
                                        .began = clock_wall(),
                                        .what = e ? "a copy in the background has failed"
                                                  : "a copy in the background is complete",
                                        .service = service,
                                        .other = *id,
                                        .error = e };
    unsigned logs = event_logs_on() & (1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT);
    struct bytes query;

    bytes_cut(source, '?', &source, &query); /* the query authorizes the read */
    if (logs)
        put(logs, &event, bytes_of(NULL, 0), source, bytes_of(NULL, 0));
}

bool access_log_wants_smb(bool changes)
{
    return event_logs_on() & (1u << EVENTS_ACCESS | (changes ? 1u << EVENTS_AUDIT : 0u));
}

void access_log_smb(const struct smb_logged *logged)
{
    const struct access_event event = { .kind = EVENT_OF_SMB,
                                        .began = clock_wall(),
                                        .what = logged->command,
                                        .service = "smb",
                                        .code = logged->status,
                                        .handle = logged->handle };
    unsigned logs =
        event_logs_on() & (1u << EVENTS_ACCESS | (logged->changes ? 1u << EVENTS_AUDIT : 0u));

    if (logs)
        put(logs, &event, logged->account, logged->path, logged->client);
}
