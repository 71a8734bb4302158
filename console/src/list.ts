// A page of the blobs of a folder, read from the text of the answer. The SDK makes a document of it, and an object for each property
// of each blob, which a browser gives back late: scrolling through 100,000 of them held half a GiB.
import { dataUrl, Refusal, signatureOf } from './server.ts';

export interface Listed {
    name: string;
    isFolder: boolean;
    size?: number | undefined;
    type?: string | undefined;
    tier?: string | undefined;
    modified?: Date | undefined;
    daysKept?: number | undefined; // of one that is soft-deleted
    hasVersionsOnly: boolean;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const plain = (text: string) => text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (all, decimal?: string, hex?: string, word?: string) =>
    decimal ? String.fromCodePoint(Number(decimal)) : hex ? String.fromCodePoint(parseInt(hex, 16)) : ENTITIES[word ?? ''] ?? all);

const elementOf = (name: string) => new RegExp(`<${name}( Encoded="true")?>([^<]*)</${name}>`);
const FIELDS = Object.fromEntries(['Name', 'Content-Length', 'BlobType', 'AccessTier', 'Last-Modified', 'RemainingRetentionDays', 'HasVersionsOnly', 'NextMarker', 'Code', 'Message']
    .map((name) => [name, elementOf(name)]));

/** Of an element without elements in it; a name that XML cannot say is percent-encoded. */
function textOf(xml: string, name: string): string | undefined {
    const [, isEncoded, text] = FIELDS[name]!.exec(xml) ?? [];

    // A copy, since a part of a text keeps all of it from being freed: where a page begins is kept for as long as the list.
    return text === undefined ? undefined : structuredClone(isEncoded ? decodeURIComponent(plain(text)) : plain(text));
}

function blobOf(xml: string): Listed {
    const modified = textOf(xml, 'Last-Modified'), size = textOf(xml, 'Content-Length'), daysKept = textOf(xml, 'RemainingRetentionDays');

    return {
        name: textOf(xml, 'Name') ?? '', isFolder: false, size: size === undefined ? undefined : Number(size),
        type: textOf(xml, 'BlobType')?.replace('Blob', '').toLowerCase(), tier: textOf(xml, 'AccessTier'), modified: modified ? new Date(modified) : undefined,
        daysKept: daysKept === undefined ? undefined : Number(daysKept), hasVersionsOnly: textOf(xml, 'HasVersionsOnly') === 'true',
    };
}

/** Calls take() with each entry as the answer comes, and returns what is of none: a page as one text lies outside of what is
 *  collected soon. */
async function readEntries(answer: Response, take: (kind: string, xml: string) => void): Promise<string> {
    const reader = answer.body!.getReader(), decoder = new TextDecoder();
    let rest = '';

    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        rest += decoder.decode(part.value, { stream: true });
        let end = 0;
        for (const found of rest.matchAll(/<(BlobPrefix|Blob)>([^]*?)<\/\1>/g)) {
            take(found[1]!, found[2]!);
            end = found.index + found[0].length;
        }
        rest = rest.slice(end);
    }
    return rest + decoder.decode();
}

/** rest: List-Blobs */
export async function listBlobs(account: string, container: string, { prefix, mark, count, withDeleted }: {
    prefix: string; mark: string | undefined; count: number; withDeleted: boolean;
}) {
    const query = new URLSearchParams({ restype: 'container', comp: 'list', delimiter: '/', maxresults: String(count), ...(withDeleted && { include: 'deleted,deletedwithversions' }),
        ...(prefix && { prefix }), ...(mark && { marker: mark }) });
    const answer = await fetch(`${dataUrl('blob', account)}/${encodeURIComponent(container)}?${query.toString()}&${await signatureOf(account)}`, { cache: 'no-store' });
    const rows: Listed[] = [];
    const rest = await readEntries(answer, (kind, xml) => rows.push(kind === 'Blob' ? blobOf(xml) : { name: textOf(xml, 'Name') ?? '', isFolder: true, hasVersionsOnly: false }));

    if (!answer.ok)
        throw new Refusal(answer.status, textOf(rest, 'Code') ?? 'Unknown', textOf(rest, 'Message') ?? `The server answered ${answer.status}.`);
    return { rows, next: textOf(rest, 'NextMarker') || undefined };
}
