// One blob: what it is, what is in it, and what can be done with it.
import type { BlobClient, BlobGetPropertiesResponse } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { Lease } from './access.tsx';
import { containerOf } from './clients.ts';
import { bytes, daysLeft, time } from './format.ts';
import { Preview } from './preview.tsx';
import { Sas } from './sas.tsx';
import { ownUrl, type Session, signatureOf } from './server.ts';
import { Choice, Facts, Field, Form, Problem, Table, useLoad } from './ui.tsx';

const TIERS: [string, string][] = ['Hot', 'Cool', 'Cold', 'Archive'].map((tier) => [tier, tier]);

/** "name = value" a line, as it is edited. */
export const linesOf = (pairs: Record<string, string> = {}) => Object.entries(pairs).map(([name, value]) => `${name} = ${value}`).join('\n');

export function pairsOf(lines: string): Record<string, string> {
    const pairs: Record<string, string> = {};

    for (const line of lines.split('\n').filter((text) => text.trim() !== '')) {
        const at = line.indexOf('=');
        if (at < 1)
            throw new Error(`"${line}" is not of the form name = value.`);
        pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim();
    }
    return pairs;
}

async function load(account: string, container: string, name: string) {
    const client = (await containerOf(account, container)).getBlobClient(name);
    const [properties, tags] = await Promise.all([client.getProperties(), client.getTags()]);
    const snapshots: { snapshot: string; size?: number; isDeleted: boolean; daysKept?: number }[] = [];

    for await (const { name: other, snapshot, deleted, properties: { contentLength, remainingRetentionDays } } of
        (await containerOf(account, container)).listBlobsFlat({ prefix: name, includeSnapshots: true, includeDeleted: true })) {
        if (other !== name)
            break;
        if (snapshot)
            snapshots.push({ snapshot, size: contentLength, isDeleted: deleted, daysKept: remainingRetentionDays });
    }
    return { client, properties, tags: tags.tags, snapshots };
}

function Properties({ of }: { of: BlobGetPropertiesResponse }) {
    return <Facts of={[['Size', bytes(of.contentLength)], ['Type', of.blobType], ['Content type', of.contentType], ['Modified', time(of.lastModified)],
        ['Created', time(of.createdOn)], ['ETag', of.etag], ['Tier', of.accessTier], ['Archive status', of.archiveStatus], ['Lease', of.leaseState],
        ['Encoding', of.contentEncoding], ['Language', of.contentLanguage], ['Cache', of.cacheControl], ['Disposition', of.contentDisposition],
        ['Copy', of.copyStatus && `${of.copyStatus} ${of.copyProgress ?? ''}`], ['Version', of.versionId]]} />;
}

/** Where the server itself reads a blob, or a snapshot of it, that is copied. */
async function sourceOf(session: Session, account: string, container: string, name: string, snapshot?: string) {
    const path = `${container}/${name.split('/').map(encodeURIComponent).join('/')}`;

    return `${ownUrl(session, 'blob', account)}/${path}?${snapshot ? `snapshot=${encodeURIComponent(snapshot)}&` : ''}${await signatureOf(account)}`;
}

type Dialogs = 'metadata' | 'tags' | 'headers' | 'tier' | 'copy' | 'sas' | 'delete';

/** What is edited: each writes if the blob is still as it was shown, or says that it is not. */
function Editors({ dialog, session, account, container, name, loaded, onClose, onDone, onGone }: {
    dialog: Dialogs | undefined; session: Session; account: string; container: string; name: string;
    loaded: { client: BlobClient; properties: BlobGetPropertiesResponse; tags: Record<string, string> };
    onClose: () => void; onDone: () => void; onGone: () => void;
}) {
    const { client, properties } = loaded;
    const conditions = { ifMatch: properties.etag };
    const form = { onClose, action: 'Save' };
    const then = (work: (data: FormData) => Promise<unknown>) => async (data: FormData) => {
        await work(data);
        onDone();
    };

    switch (dialog) {
    case 'metadata':
        return <Form {...form} title="Metadata" onDone={then((data) => client.setMetadata(pairsOf(String(data.get('pairs'))), { conditions }))}>
            <Field label="name = value, one a line" name="pairs" rows={8} value={linesOf(properties.metadata)} />
        </Form>;
    case 'tags':
        return <Form {...form} title="Tags" onDone={then((data) => client.setTags(pairsOf(String(data.get('pairs')))))}>
            <Field label="name = value, one a line, ten at most" name="pairs" rows={6} value={linesOf(loaded.tags)} />
        </Form>;
    case 'headers':
        return <Form {...form} title="Properties" onDone={then((data) => client.setHTTPHeaders({
            blobContentType: String(data.get('type')), blobContentEncoding: String(data.get('encoding')), blobContentLanguage: String(data.get('language')),
            blobCacheControl: String(data.get('cache')), blobContentDisposition: String(data.get('disposition')), blobContentMD5: properties.contentMD5,
        }, { conditions }))}>
            <Field label="Content type" name="type" value={properties.contentType} />
            <Field label="Content encoding" name="encoding" value={properties.contentEncoding} />
            <Field label="Content language" name="language" value={properties.contentLanguage} />
            <Field label="Cache control" name="cache" value={properties.cacheControl} />
            <Field label="Content disposition" name="disposition" value={properties.contentDisposition} />
        </Form>;
    case 'tier':
        return <Form {...form} title="Tier" onDone={then((data) => client.setAccessTier(String(data.get('tier'))))}>
            <Choice label="Tier" name="tier" value={properties.accessTier} of={TIERS} />
        </Form>;
    case 'copy':
        return <Form {...form} title="Copy" action="Copy" onDone={then(async (data) => {
            const source = await sourceOf(session, account, container, name);
            const to = (await containerOf(account, String(data.get('container')))).getBlobClient(String(data.get('name')));
            await (await to.beginCopyFromURL(source, { conditions: data.get('over') ? {} : { ifNoneMatch: '*' } })).pollUntilDone();
        })}>
            <Field label="To container" name="container" value={container} required />
            <Field label="Name" name="name" value={`${name}-copy`} required />
            <label class="field"><input type="checkbox" name="over" /> Overwrite what is there</label>
        </Form>;
    case 'delete':
        return <Form {...form} title={`Delete ${name}?`} action="Delete" danger onDone={async () => {
            await client.delete({ deleteSnapshots: 'include', conditions });
            onGone();
        }}><p>Its snapshots go with it.</p></Form>;
    case 'sas':
        return <Sas session={session} account={account} container={container} blob={name} onClose={onClose} />;
    case undefined:
        return null;
    }
}

export function Blob({ session, account, container, name, onClose, onGone }: {
    session: Session; account: string; container: string; name: string; onClose: () => void; onGone: () => void;
}) {
    const loaded = useLoad(() => load(account, container, name), [account, container, name]);
    const [dialog, setDialog] = useState<Dialogs>();
    const [snapshot, setSnapshot] = useState('');
    const [promoted, setPromoted] = useState<string>();
    const { value } = loaded;
    const act = async (work: () => Promise<unknown>) => {
        await work();
        loaded.reload();
    };
    const [problem, setProblem] = useState<unknown>();
    const attempt = (work: () => Promise<unknown>) => act(work).then(() => setProblem(undefined), setProblem);

    return <aside class="detail" aria-label="Blob">
        <h2>{name}</h2>
        <Problem of={loaded.problem ?? problem} />
        <div class="buttons">
            {value && <a class="button" href={(snapshot ? value.client.withSnapshot(snapshot) : value.client).url} download={name.split('/').at(-1)}>Download</a>}
            {value && ([['headers', 'Properties…'], ['metadata', 'Metadata…'], ['tags', 'Tags…'], ['tier', 'Tier…'], ['copy', 'Copy…'], ['sas', 'Link…'], ['delete', 'Delete…']] as [Dialogs, string][])
                .filter(([id]) => id !== 'tier' || value.properties.blobType === 'BlockBlob')
                .map(([id, text]) => <button key={id} type="button" onClick={() => setDialog(id)}>{text}</button>)}
            {value && <button type="button" onClick={() => void attempt(() => value.client.createSnapshot())}>Snapshot</button>}
            <Lease state={value?.properties.leaseState} name={name} onBreak={() => act(() => value!.client.getBlobLeaseClient().breakLease(0))} />
            <button type="button" onClick={loaded.reload}>Reload</button>
            <button type="button" onClick={onClose}>Close</button>
        </div>
        {loaded.busy && !value && <p>Loading…</p>}
        {value && <>
            <Properties of={value.properties} />
            <h3>Metadata</h3>
            {Object.keys(value.properties.metadata ?? {}).length > 0 ? <Facts of={Object.entries(value.properties.metadata!)} /> : <p class="empty">None.</p>}
            <h3>Tags</h3>
            {Object.keys(value.tags).length > 0 ? <Facts of={Object.entries(value.tags)} /> : <p class="empty">None.</p>}
            <h3>Snapshots</h3>
            <Table label="Snapshots" head={['Taken', 'Size', 'Actions']} empty="None.">
                {value.snapshots.map((one) => <tr key={one.snapshot}>
                    <td>{one.isDeleted ? <del>{one.snapshot}</del> : one.snapshot}</td><td class="number">{bytes(one.size)}</td>
                    <td>{one.isDeleted ? `deleted, ${daysLeft(one.daysKept)}` : <>
                        <button type="button" class="plain" aria-label={`Show ${one.snapshot}`} onClick={() => setSnapshot(snapshot === one.snapshot ? '' : one.snapshot)}>{snapshot === one.snapshot ? 'Show the blob' : 'Show'}</button>
                        <button type="button" class="plain" aria-label={`Promote ${one.snapshot}`} onClick={() => setPromoted(one.snapshot)}>Promote</button>
                        <button type="button" class="plain" aria-label={`Delete ${one.snapshot}`} onClick={() => void attempt(() => value.client.withSnapshot(one.snapshot).delete())}>Delete</button>
                    </>}</td>
                </tr>)}
            </Table>
            {value.snapshots.some(({ isDeleted }) => isDeleted) &&
                <p class="buttons"><button type="button" onClick={() => void attempt(() => value.client.undelete())}>Undelete the deleted snapshots</button></p>}
            <h3>Content{snapshot && ` of the snapshot ${snapshot}`}</h3>
            <Preview key={`${snapshot}${value.properties.etag}`} of={snapshot ? value.client.withSnapshot(snapshot) : value.client}
                type={value.properties.contentType ?? ''} size={value.properties.contentLength ?? 0} isArchived={value.properties.accessTier === 'Archive'} />
            <Editors dialog={dialog} session={session} account={account} container={container} name={name} loaded={value}
                onClose={() => setDialog(undefined)} onDone={loaded.reload} onGone={onGone} />
            {promoted && <Form title="Promote the snapshot?" action="Promote" danger onClose={() => setPromoted(undefined)} onDone={() => act(async () => {
                const source = await sourceOf(session, account, container, name, promoted);
                await (await value.client.beginCopyFromURL(source, { conditions: { ifMatch: value.properties.etag } })).pollUntilDone();
            })}><p>The blob becomes what it was at {promoted}. What it is now is in no snapshot, unless one was made.</p></Form>}
        </>}
    </aside>;
}
