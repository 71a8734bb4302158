// The code of an error, wherever its service says it.

/** answer: { headers, body }. In the header; in versions before 2017-07-29, and of the Table service, only
 *  in the body; undefined: nowhere. */
export const errorCode = ({ headers, body }) => headers.get('x-ms-error-code') ??
    /^(?:\{"odata\.error":\{"code":"|\uFEFF?<\?xml[^>]*\?>\s*(?:<Error><Code>|<m:error [^>]*><m:code>))(\w+)/.exec(String(body))?.[1];
