/* The answer to a call: what the answer functions of operations write to. They say what a result
 * looks like on the wire and decide nothing. */
#ifndef LAGRA_SERVICE_ANSWER_H
#define LAGRA_SERVICE_ANSWER_H

#include "service/call.h"

struct answer {
    const struct call *call;
    struct arena *arena;
    struct response *response;
    instant now;      /* of the decision that is answered; 0: it was refused before one */
    enum error error; /* that it says; OK: a success */
    bool of_part; /* of a list: errors have a line feed behind the XML declaration, as recorded */
    size_t part;  /* of a transaction: which one it is.. */
    size_t parts; /* ..of how many, for the message of an error */
    /* Bytes of a content to send as the body: answer_content(). */
    struct answer_content {
        bool wanted;
        struct content content;
        uint64_t offset;
        uint64_t length;
        bool md5, crc64; /* of these bytes, as headers */
    } content;
};

/* For the message of an error: when it was decided, or now. */
instant answer_time(const struct answer *a);
/* Another than the first that the operation's row has: that is there already. */
void answer_status(struct answer *a, int status);
void answer_header(struct answer *a, const char *name, struct bytes value);
void answer_string(struct answer *a, const char *name, const char *value);
void answer_u64(struct answer *a, const char *name, uint64_t value);
/* A date as HTTP has it. */
void answer_date(struct answer *a, const char *name, instant t);
/* ETag and Last-Modified: struct service, answer_etag. */
void answer_etag(struct answer *a, struct etag etag, instant modified);
/* x-ms-lease-status, -state, -duration. */
void answer_lease(struct answer *a, const struct lease *lease);
/* 421, for the front end that has asked: another cell has the container. cell 0: the root knows where it is. */
void answer_elsewhere(struct answer *a, struct placement where);
/* x-ms-error-code. */
void answer_code(struct answer *a, enum error e);
void answer_xml(struct answer *a, const struct text *xml);
/* Ends a page of a list for another cell (cell_page.h), which is then the body. next: where the next page starts, or NULL. */
void answer_cell_page(struct answer *a, struct text *page, const struct page_key *next);

/* OP_check of an operation whose request has nothing to check beside what the row says. */
#define OPERATION_CHECKS_NOTHING(op)                                                               \
    enum error op##_check(struct call *call, struct op##_parameters *parameters)                   \
    {                                                                                              \
        (void)call;                                                                                \
        (void)parameters;                                                                          \
        return OK;                                                                                 \
    }
/* OP_answer of an operation whose answer is the row's status, and the ETag where the row has one. */
#define OPERATION_ANSWERS_NOTHING(op)                                                              \
    void op##_answer(struct answer *a, const struct op##_parameters *parameters,                   \
                     const struct op##_result *result)                                             \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)parameters;                                                                          \
        (void)result;                                                                              \
    }

#endif
