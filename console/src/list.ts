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
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const plain = (text: string) => text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (all, decimal?: string, hex?: string, word?: string) =>
    decimal ? String.fromCodePoint(Number(decimal)) : hex ? String.fromCodePoint(parseInt(hex, 16)) : ENTITIES[word ?? ''] ?? all);

const elementOf = (name: string) => new RegExp(`<${name}( Encoded="true")?>([^<]*)</${name}>`);
const FIELDS = Object.fromEntries(['Name', 'Content-Length', 'BlobType', 'AccessTier', 'Last-Modified', 'NextMarker', 'Code', 'Message']
    .map((name) => [name, elementOf(name)]));

/** Of an element without elements in it; a name that XML cannot say is percent-encoded. */
function textOf(xml: string, name: string): string | undefined {
    const [, isEncoded, text] = FIELDS[name]!.exec(xml) ?? [];

    // A copy, since a part of a text keeps all of it from being freed: where a page begins is kept for as long as the list.
    return text === undefined ? undefined : structuredClone(isEncoded ? decodeURIComponent(plain(text)) : plain(text));
}

function blobOf(xml: string): Listed {
    const modified = textOf(xml, 'Last-Modified');

    return {
        name: textOf(xml, 'Name') ?? '', isFolder: false, size: Number(textOf(xml, 'Content-Length')),
        type: textOf(xml, 'BlobType')?.replace('Blob', '').toLowerCase(), tier: textOf(xml, 'AccessTier'), modified: modified ? new Date(modified) : undefined,
    };
}

/** rest: List-Blobs */
export async function listBlobs(account: string, container: string, { prefix, mark, count }: { prefix: string; mark: string | undefined; count: number }) {
    const query = new URLSearchParams({ restype: 'container', comp: 'list', delimiter: '/', maxresults: String(count), ...(prefix && { prefix }), ...(mark && { marker: mark }) });
    const answer = await fetch(`${dataUrl('blob', account)}/${encodeURIComponent(container)}?${query.toString()}&${await signatureOf(account)}`, { cache: 'no-store' });
    const xml = await answer.text();

    if (!answer.ok)
        throw new Refusal(answer.status, textOf(xml, 'Code') ?? 'Unknown', textOf(xml, 'Message') ?? `The server answered ${answer.status}.`);
    const rows = [...xml.matchAll(/<(BlobPrefix|Blob)>([^]*?)<\/\1>/g)].map(([, kind, inner]): Listed =>
        kind === 'Blob' ? blobOf(inner!) : { name: textOf(inner!, 'Name') ?? '', isFolder: true });
    return { rows, next: textOf(xml, 'NextMarker') || undefined };
}
