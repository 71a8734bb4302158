// The code of an error, wherever its service says it.

/** answer: { headers, body }. In the header, or, of the Table service, in the JSON alone; undefined:
 *  nowhere. */
export const errorCode = ({ headers, body }) => headers.get('x-ms-error-code') ??
    /^\{"odata\.error":\{"code":"(\w+)"/.exec(String(body))?.[1];
