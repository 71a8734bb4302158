// One blob: its properties, its content, and dialogs that change it.
import type { BlobClient, BlobGetPropertiesResponse } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { Lease } from './access.tsx';
import { containerOf } from './clients.ts';
import { AccessControl, AccessFacts, Rename } from './directory.tsx';
import { bytes, time } from './format.ts';
import { Name } from './names.tsx';
import { accessOf } from './paths.ts';
import { Preview } from './preview.tsx';
import { Sas } from './sas.tsx';
import { codeOf, ownUrl, type Session, signatureOf } from './server.ts';
import { clientOf, queryOf, type State, States, statesOf } from './states.tsx';
import { Choice, Facts, Field, Form, Loading, Pairs, Problem, useLoad } from './ui.tsx';

const TIERS: [string, string][] = ['Hot', 'Cool', 'Cold', 'Archive'].map((tier) => [tier, tier]);

/** One "name = value" per line, for editing. */
export const linesOf = (pairs: Record<string, string> = {}) => Object.entries(pairs).map(([name, value]) => `${name} = ${value}`).join('\n');

export function pairsOf(lines: string): Record<string, string> {
    const pairs: Record<string, string> = {};

    for (const line of lines.split('\n').filter((text) => text.trim() !== '')) {
        const at = line.indexOf('=');
        if (at < 1)
            throw new Error(`"${line}" is not in the form name = value.`);
        pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim();
    }
    return pairs;
}

async function load(account: string, container: string, name: string, isTree: boolean) {
    const of = await containerOf(account, container);
    const client = of.getBlobClient(name);
    const access = isTree ? await accessOf(account, container, name) : undefined;
    const [properties, states] = await Promise.all([client.getProperties().catch((problem: unknown) => problem as Error), statesOf(of, name)]);

    if (!(properties instanceof Error))
        return { client, properties, access, tags: isTree ? {} : (await client.getTags()).tags, states };
    if (codeOf(properties) !== 'BlobNotFound' || states.every(({ isDeleted }) => isDeleted))
        throw properties;
    return { client, properties: undefined, access, tags: {}, states };
}

function Properties({ of }: { of: BlobGetPropertiesResponse }) {
    return <Facts of={[['Size', bytes(of.contentLength)], ['Type', of.blobType], ['Content type', of.contentType], ['Modified', time(of.lastModified)],
        ['Created', time(of.createdOn)], ['ETag', of.etag], ['Tier', of.accessTier], ['Archive status', of.archiveStatus], ['Lease', of.leaseState],
        ['Encoding', of.contentEncoding], ['Language', of.contentLanguage], ['Cache', of.cacheControl], ['Disposition', of.contentDisposition],
        ['Copy', of.copyStatus && `${of.copyStatus} ${of.copyProgress ?? ''}`], ['Version', of.versionId]]} />;
}

/** The URL from which the server itself reads the source of a copy. */
async function sourceOf(session: Session, account: string, container: string, name: string, state?: State) {
    const path = `${container}/${name.split('/').map(encodeURIComponent).join('/')}`;

    return `${ownUrl(session, 'blob', account)}/${path}?${state ? `${queryOf(state)}&` : ''}${await signatureOf(account)}`;
}

/** The content of the blob, or of the snapshot or version that is shown. */
function Content({ of: { client, properties }, shown }: { of: { client: BlobClient; properties: BlobGetPropertiesResponse | undefined }; shown: State | undefined }) {
    if (!shown && !properties)
        return null;
    const { type, size, isArchived } = shown ??
        { type: properties?.contentType, size: properties?.contentLength, isArchived: properties?.accessTier === 'Archive' };
    return <>
        <h3>Content{shown && ` of the ${shown.kind} ${shown.id}`}</h3>
        <Preview key={`${shown?.id}${properties?.etag}`} of={shown ? clientOf(client, shown) : client} type={type ?? ''} size={size ?? 0} isArchived={isArchived} />
    </>;
}

type Dialogs = 'rename' | 'access' | 'metadata' | 'tags' | 'headers' | 'tier' | 'copy' | 'sas' | 'delete';

/** The dialogs. Each changes the blob only if it is unchanged since it was loaded. */
function Editors({ dialog, session, account, container, name, loaded, onClose, onDone, onGone, onMoved }: {
    dialog: Dialogs | undefined; session: Session; account: string; container: string; name: string;
    loaded: { client: BlobClient; properties: BlobGetPropertiesResponse; tags: Record<string, string> };
    onClose: () => void; onDone: () => void; onGone: () => void; onMoved: (path: string) => void;
}) {
    const { client, properties } = loaded;
    const conditions = { ifMatch: properties.etag };
    const form = { onClose, action: 'Save' };
    const then = (work: (data: FormData) => Promise<unknown>) => async (data: FormData) => {
        await work(data);
        onDone();
    };

    switch (dialog) {
    case 'rename':
        return <Rename account={account} container={container} path={name} isDirectory={false} onClose={onClose} onDone={onMoved} />;
    case 'access':
        return <AccessControl account={account} container={container} path={name} onClose={onClose} onDone={onDone} />;
    case 'metadata':
        return <Form {...form} title="Metadata" onDone={then((data) => client.setMetadata(pairsOf(String(data.get('pairs'))), { conditions }))}>
            <Field label="One name = value per line" name="pairs" rows={8} value={linesOf(properties.metadata)} />
        </Form>;
    case 'tags':
        return <Form {...form} title="Tags" onDone={then((data) => client.setTags(pairsOf(String(data.get('pairs')))))}>
            <Field label="One name = value per line, at most ten" name="pairs" rows={6} value={linesOf(loaded.tags)} />
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
            <Field label="Destination container" name="container" value={container} required />
            <Field label="Destination name" name="name" value={`${name}-copy`} required />
            <label class="field"><input type="checkbox" name="over" /> Overwrite an existing blob</label>
        </Form>;
    case 'delete':
        return <Form {...form} title={<>Delete <Name of={name} />?</>} action="Delete" danger onDone={async () => {
            await client.delete({ deleteSnapshots: 'include', conditions });
            onGone();
        }}><p>Its snapshots are deleted too.{properties.versionId && ' The current content is kept as a version.'}</p></Form>;
    case 'sas':
        return <Sas session={session} account={account} container={container} blob={name} onClose={onClose} />;
    case undefined:
        return null;
    }
}

const EDITORS: [Dialogs, string][] = [['rename', 'Rename…'], ['access', 'Access control…'], ['headers', 'Properties…'], ['metadata', 'Metadata…'], ['tags', 'Tags…'], ['tier', 'Tier…'], ['copy', 'Copy…'], ['sas', 'SAS link…'], ['delete', 'Delete…']];

const Titled = ({ title, of }: { title: string; of: Record<string, string> | undefined }) => <>
    <h3>{title}</h3>
    {Object.keys(of ?? {}).length > 0 ? <Pairs of={of} /> : <p class="empty">None.</p>}
</>;

/** The dialogs that a blob has: index tags only without a hierarchical namespace, a new path and access only with one. */
const editorsOf = ({ blobType }: BlobGetPropertiesResponse, isTree: boolean) => EDITORS.filter(([id]) =>
    (id !== 'tier' || blobType === 'BlockBlob') && (id !== 'tags' || !isTree) && ((id !== 'rename' && id !== 'access') || isTree));

/** isTree: of an account with a hierarchical namespace. */
export function Blob({ session, account, container, name, isTree, onClose, onGone, onMoved }: {
    session: Session; account: string; container: string; name: string; isTree: boolean; onClose: () => void; onGone: () => void; onMoved: (path: string) => void;
}) {
    const loaded = useLoad(() => load(account, container, name, isTree), [account, container, name]);
    const [dialog, setDialog] = useState<Dialogs>();
    const [shown, setShown] = useState<State>();
    const [promoted, setPromoted] = useState<State>();
    const { value } = loaded;
    const act = async (work: () => Promise<unknown>) => {
        await work();
        loaded.reload();
    };
    const [problem, setProblem] = useState<unknown>();
    const attempt = (work: () => Promise<unknown>) => act(work).then(() => setProblem(undefined), setProblem);
    const properties = value?.properties;
    const client = value && (shown ? clientOf(value.client, shown) : value.client);
    const statesAre = { of: value?.states ?? [], shown, onShow: setShown, onPromote: setPromoted,
        onDelete: (state: State) => void attempt(() => clientOf(value!.client, state).delete()) };

    return <aside class="detail" aria-label="Blob">
        <h2><Name of={name} /></h2>
        <Loading of={loaded} />
        <Problem of={problem} />
        <div class="buttons">
            {client && (properties ?? shown) && <a class="button" href={client.url} download={name.split('/').at(-1)}>Download</a>}
            {properties && editorsOf(properties, isTree)
                .map(([id, text]) => <button key={id} type="button" onClick={() => setDialog(id)}>{text}</button>)}
            {properties && <button type="button" onClick={() => void attempt(() => value.client.createSnapshot())}>Snapshot</button>}
            <Lease state={properties?.leaseState} name={name} onBreak={() => act(() => value!.client.getBlobLeaseClient().breakLease(0))} />
            <button type="button" onClick={loaded.reload}>Reload</button>
            <button type="button" onClick={onClose}>Close</button>
        </div>
        {value && <>
            {properties ? <>
                <Properties of={properties} />
                <AccessFacts of={value.access} />
                <Titled title="Metadata" of={properties.metadata} />
                {!isTree && <Titled title="Tags" of={value.tags} />}
            </> : <p>The blob was deleted. Its versions remain.</p>}
            <States kind="snapshot" {...statesAre} />
            <States kind="version" {...statesAre} />
            {value.states.some(({ isDeleted }) => isDeleted) &&
                <p class="buttons"><button type="button" onClick={() => void attempt(() => value.client.undelete())}>Undelete snapshots</button></p>}
            <Content of={value} shown={shown} />
            {properties && <Editors dialog={dialog} session={session} account={account} container={container} name={name} loaded={{ ...value, properties }}
                onClose={() => setDialog(undefined)} onDone={loaded.reload} onGone={onGone} onMoved={onMoved} />}
            {promoted && <Form title={`Promote the ${promoted.kind}?`} action="Promote" danger onClose={() => setPromoted(undefined)} onDone={() => act(async () => {
                const source = await sourceOf(session, account, container, name, promoted);
                const conditions = properties ? { ifMatch: properties.etag } : { ifNoneMatch: '*' };
                await (await value.client.beginCopyFromURL(source, { conditions })).pollUntilDone();
            })}><p>The {promoted.kind} of {promoted.id} is copied over the blob. {properties?.versionId ? 'The current content is kept as a version.'
                : properties && 'The current content is lost unless there is a snapshot of it.'}</p></Form>}
        </>}
    </aside>;
}
