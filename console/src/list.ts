// A page of a list of blobs, parsed from the response's text. The SDK creates a document from it, and an object for each property of
// each blob, which a browser frees late: scrolling through 100,000 of them held half a GiB.
import { dataUrl, Refusal, signatureOf } from './server.ts';

export interface Listed {
    name: string;
    isFolder: boolean;
    size?: number | undefined;
    type?: string | undefined;
    tier?: string | undefined;
    modified?: Date | undefined;
    daysKept?: number | undefined; // of one that is soft-deleted
    deletedAt?: Date | undefined;
    deletionId?: string | undefined; // of a deleted path of a hierarchical account
    hasVersionsOnly: boolean;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const plain = (text: string) => text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (all, decimal?: string, hex?: string, word?: string) =>
    decimal ? String.fromCodePoint(Number(decimal)) : hex ? String.fromCodePoint(parseInt(hex, 16)) : ENTITIES[word ?? ''] ?? all);

const elementOf = (name: string) => new RegExp(`<${name}( Encoded="true")?>([^<]*)</${name}>`);
const FIELDS = Object.fromEntries(['Name', 'Content-Length', 'BlobType', 'AccessTier', 'Last-Modified', 'RemainingRetentionDays', 'DeletedTime', 'DeletionId', 'HasVersionsOnly', 'ResourceType', 'NextMarker', 'Code', 'Message']
    .map((name) => [name, elementOf(name)]));

/** The text of an element without child elements; a name that XML cannot express is percent-encoded. */
function textOf(xml: string, name: string): string | undefined {
    const [, isEncoded, text] = FIELDS[name]!.exec(xml) ?? [];

    // A copy, since a substring keeps the entire text from being freed, and marks of pages live as long as the list.
    return text === undefined ? undefined : structuredClone(isEncoded ? decodeURIComponent(plain(text)) : plain(text));
}

function blobOf(xml: string): Listed {
    const modified = textOf(xml, 'Last-Modified'), size = textOf(xml, 'Content-Length'), daysKept = textOf(xml, 'RemainingRetentionDays');
    const deletedAt = daysKept === undefined ? undefined : textOf(xml, 'DeletedTime');

    return {
        name: textOf(xml, 'Name') ?? '', isFolder: textOf(xml, 'ResourceType') === 'directory', size: size === undefined ? undefined : Number(size),
        type: textOf(xml, 'BlobType')?.replace('Blob', '').toLowerCase(), tier: textOf(xml, 'AccessTier'), modified: modified ? new Date(modified) : undefined,
        daysKept: daysKept === undefined ? undefined : Number(daysKept), deletedAt: deletedAt ? new Date(deletedAt) : undefined, deletionId: textOf(xml, 'DeletionId'),
        hasVersionsOnly: textOf(xml, 'HasVersionsOnly') === 'true',
    };
}

/** Calls take() with each entry as the response arrives, and returns the remaining text. A page held as one string would be
 *  in memory that is collected late. */
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

/** A page of the blobs and folders below a prefix; isFlat: of all blobs, in folders too; isDeleted: of the deleted paths of a hierarchical account.
 *  rest: List-Blobs */
export async function listBlobs(account: string, container: string, { prefix = '', mark, count, withDeleted = false, isFlat = false, isDeleted = false }: {
    prefix?: string; mark?: string | undefined; count: number; withDeleted?: boolean; isFlat?: boolean; isDeleted?: boolean;
}) {
    const query = new URLSearchParams({ restype: 'container', comp: 'list', ...(!isFlat && { delimiter: '/' }), maxresults: String(count), ...(withDeleted && { include: 'deleted,deletedwithversions' }), ...(isDeleted && { showonly: 'deleted' }),
        ...(prefix && { prefix }), ...(mark && { marker: mark }) });
    const answer = await fetch(`${dataUrl('blob', account)}/${encodeURIComponent(container)}?${query.toString()}&${await signatureOf(account)}`, { cache: 'no-store' });
    const rows: Listed[] = [];
    const rest = await readEntries(answer, (kind, xml) => rows.push(kind === 'Blob' ? blobOf(xml) : { name: textOf(xml, 'Name') ?? '', isFolder: true, hasVersionsOnly: false }));

    if (!answer.ok)
        throw new Refusal(answer.status, textOf(rest, 'Code') ?? 'Unknown', textOf(rest, 'Message') ?? `The server responded with status ${answer.status}.`);
    return { rows, next: textOf(rest, 'NextMarker') || undefined };
}

const WALKED_AT_A_TIME = 5000;

/** All blobs whose names have a prefix, in folders too, or only the entries of the folder. */
export async function* walkBlobs(account: string, container: string, prefix: string, { isFlat = true, signal }: { isFlat?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<Listed> {
    for (let mark: string | undefined, isFirst = true; (isFirst || mark) && !signal?.aborted; isFirst = false) {
        const { rows, next } = await listBlobs(account, container, { prefix, mark, count: WALKED_AT_A_TIME, isFlat });
        yield* rows;
        mark = next;
    }
}
