// What replaying the Queue service needs beside what recording.mjs has for blobs.

/** Short form of what is asked: "POST queue messages", "PUT queue?comp=acl". */
export function queueOperationOf({ method, container, blob, parameter }) {
    const comp = parameter('comp');
    const level = blob ? `queue ${blob.split('/').length > 1 ? 'message' : 'messages'}` : container ? 'queue' : 'queues';

    return `${method} ${level}${comp ? `?comp=${comp}` : ''}${parameter('peekonly') ? '?peekonly' : ''}`;
}

/** Queues that were there before the run began: { name: existed }. */
export function queuesBefore(exchanges) {
    const before = new Map();

    for (const { container, method, blob, parameter, status } of exchanges) {
        if (!container || before.has(container))
            continue;
        const creates = method === 'PUT' && !blob && !parameter('comp');
        before.set(container, status !== 404 && !(creates && status === 201));
    }
    return before;
}

const elementsOf = (xml, name) => [...(xml ?? '').matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))]
    .map(([, value]) => value);

/** The names in a list of queues. */
export const namesIn = (xml) => elementsOf(xml, 'Name');

/** Values that an answer gives out and later requests name, recorded and ours, pair by pair. */
export function givenOutBy({ respHeaders, respBody }, answer) {
    const ours = answer.body.toString();
    const pairs = ['MessageId', 'PopReceipt'].flatMap((name) => {
        const mine = elementsOf(ours, name);
        return elementsOf(respBody, name).map((value, n) => [value, mine[n]]);
    });

    return [...pairs, [respHeaders['x-ms-popreceipt'], answer.headers.get('x-ms-popreceipt')]];
}

/** The body of a put or update that was not recorded: its text is shown by a later answer, where
 *  the message has the id of this one's; null: none does. */
export function messageBodyOf({ blob, respBody }, later) {
    const id = elementsOf(respBody, 'MessageId')[0] ?? blob.split('/')[1];

    for (const { respBody: shown } of later) {
        const at = elementsOf(shown, 'MessageId').indexOf(id);
        const text = elementsOf(shown, 'MessageText')[at];
        if (at >= 0 && text !== undefined)
            return Buffer.from(`<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`);
    }
    return null;
}
