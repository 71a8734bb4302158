// What differs between a recorded answer and ours, as short texts that differences.json can name.

/* ---- XML ---- */

/** Elements in their order as nested lists: [name, child, child..]. Of equal neighbours one is
 *  kept: how many blobs a list has depends on the account. cut: the text may end anywhere. */
export function shapeOf(xml) {
    const root = ['', []];
    const open = [root];

    for (const [, closing, name, , empty] of xml.matchAll(/<(\/?)([\w.-]+)([^<>]*?)(\/?)>/g)) {
        if (closing) {
            if (open.at(-1)[0] !== name)
                return null;
            const [closed, children] = open.pop();
            add(open.at(-1), [closed, children]);
        } else if (empty) {
            add(open.at(-1), [name, []]);
        } else {
            open.push([name, []]);
        }
    }
    return open.length === 1 ? root[1].map(text).join('') : null;

    function add([, siblings], element) {
        if (siblings.length === 0 || text(siblings.at(-1)) !== text(element))
            siblings.push(element);
    }
    function text([name, children]) {
        return children.length === 0 ? name : `${name}(${children.map(text).join(' ')})`;
    }
}

/** The first place where two shapes differ, with the words around it. */
function shapeDifference(recorded, ours) {
    const words = (shape) => shape.split(/(?<=[( )])|(?=[( )])/).filter((word) => word !== ' ');
    const [a, b] = [words(recorded), words(ours)];
    const at = a.findIndex((word, n) => word !== b[n]);
    const from = Math.max(0, (at < 0 ? a.length : at) - 2);
    const shown = (list) => list.slice(from, from + 6).join(' ') || 'nothing';

    return `xml ${shown(a)} -> ${shown(b)}`;
}

function compareBodies(exchange, answer) {
    const isXml = (text) => /^\uFEFF?\s*<\?xml/.test(text);
    const text = answer.body.toString('utf8');

    if (exchange.respBody === null || (!isXml(exchange.respBody) && !isXml(text)))
        return [];
    if (!isXml(exchange.respBody) || !isXml(text))
        return [isXml(text) ? 'xml none -> a document' : 'xml a document -> none'];
    const [recorded, ours] = [shapeOf(exchange.respBody), shapeOf(text)];
    if (ours === null)
        return ['xml ours is not well formed'];
    // A recorded body that was cut has no shape.
    return recorded === null || recorded === ours ? [] : [shapeDifference(recorded, ours)];
}

/* ---- headers ---- */

function compareHeaders(exchange, answer, isCompared) {
    const recorded = new Set(Object.keys(exchange.respHeaders).map((name) => name.toLowerCase()));
    const ours = new Set(answer.headers.list.map(([name]) => name.toLowerCase()));
    const differences = [];

    for (const name of [...recorded].filter(isCompared))
        if (!ours.has(name))
            differences.push(`header ${name} -> missing`);
    for (const name of [...ours].filter(isCompared))
        if (!recorded.has(name))
            differences.push(`header missing -> ${name}`);
    return differences;
}

/* ---- ETags ---- */

/** Which exchanges change the ETag of a resource, of the recording and of ours. */
export class EtagHistory {
    #last = new Map();

    compare(exchange, answer) {
        const now = [exchange.respHeaders.etag, answer.headers.get('etag')];
        const last = this.#last.get(exchange.resource);

        if (now.includes(undefined))
            return [];
        this.#last.set(exchange.resource, now);
        if (!last)
            return [];
        const [recorded, ours] = now.map((etag, n) => (etag === last[n] ? 'same' : 'new'));
        return recorded === ours ? [] : [`etag ${recorded} -> ${ours}`];
    }
}

/** All differences; when status or code differ already, the rest says nothing. */
export function differencesOf(exchange, answer, etags, isCompared) {
    const code = answer.headers.get('x-ms-error-code');
    const first = [];

    if (exchange.status !== answer.status)
        first.push(`status ${exchange.status} -> ${answer.status}`);
    // Before 2017-07-29 an error of a HEAD had no code at all.
    if (exchange.error !== code && (exchange.error !== undefined || exchange.status < 400))
        first.push(`code ${exchange.error} -> ${code}`);
    if (first.length > 0)
        return first;
    return [
        ...compareHeaders(exchange, answer, isCompared), ...compareBodies(exchange, answer),
        ...etags.compare(exchange, answer),
    ];
}
