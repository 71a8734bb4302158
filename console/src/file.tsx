// What can be done with one file or folder of a share, besides reading and deleting it.
import type { HandleItem, ShareDirectoryClient, ShareFileClient } from '@azure/storage-file-share';
import { linesOf, pairsOf } from './blob.tsx';
import { renameFile } from './clients.ts';
import { bytes, time } from './format.ts';
import { Dialog, Facts, Field, Form, Problem, Table, useAction, useLoad } from './ui.tsx';

export type Target = { kind: 'file'; name: string; client: ShareFileClient } | { kind: 'directory'; name: string; client: ShareDirectoryClient };
interface Props {
    of: Target;
    onClose: () => void;
    onDone: () => void;
}

/** url: of the account, as the service itself knows it. */
export function Rename({ of, url, onClose, onDone }: Props & { url: string }) {
    return <Form title={`Rename ${of.name}`} action="Rename" onClose={onClose} onDone={async (form) => {
        const [, path] = new URL(of.client.url).pathname.split(/^\/console\/data\/file\/[^/]+/);
        await renameFile(of.client.url, of.kind, String(form.get('name')), url + path, form.get('over') !== null);
        onDone();
    }}>
        <Field label="Name" name="name" value={of.name} required />
        {of.kind === 'file' && <label class="field"><input type="checkbox" name="over" /> Overwrite what is there</label>}
    </Form>;
}

// ---- properties ----

const ATTRIBUTES = [['readonly', 'read-only'], ['hidden', 'hidden'], ['system', 'system'], ['archive', 'archive'], ['notContentIndexed', 'not indexed']] as const;
type Attribute = (typeof ATTRIBUTES)[number][0];

async function loadProperties({ client }: Target) {
    const { FileSystemAttributes } = await import('@azure/storage-file-share');
    const properties = await client.getProperties();

    return { properties, attributes: FileSystemAttributes.parse(properties.fileAttributes ?? 'None') };
}

async function saveProperties(of: Target, attributes: Awaited<ReturnType<typeof loadProperties>>['attributes'], before: Record<string, string>, form: FormData) {
    const metadata = pairsOf(String(form.get('pairs')));
    const isChanged = linesOf(metadata) !== linesOf(before);
    // Metadata of what is read-only cannot be set: it is written while the file is not.
    const wasReadOnly = attributes.readonly;

    if (isChanged && !wasReadOnly)
        await of.client.setMetadata(metadata);
    for (const [name] of ATTRIBUTES)
        attributes[name] = form.get(`is-${name}`) !== null;
    attributes.none = false;
    if (of.kind === 'directory')
        await of.client.setProperties({ fileAttributes: attributes });
    else
        await of.client.setProperties({ fileAttributes: attributes, fileHttpHeaders: {
            fileContentType: String(form.get('type')), fileContentEncoding: String(form.get('encoding')), fileContentLanguage: String(form.get('language')),
            fileCacheControl: String(form.get('cache')), fileContentDisposition: String(form.get('disposition')),
        } });
    if (isChanged && wasReadOnly)
        await of.client.setMetadata(metadata);
}

export function Properties({ of, onClose, onDone }: Props) {
    const { value, problem } = useLoad(() => loadProperties(of), []);
    if (!value)
        return <Dialog title={of.name} onClose={onClose}><Problem of={problem} /><p class="buttons"><button type="button" onClick={onClose}>Close</button></p></Dialog>;
    const { properties, attributes } = value;
    const file = of.kind === 'file' ? properties as Awaited<ReturnType<ShareFileClient['getProperties']>> : undefined;

    return <Form title={of.name} action="Save" onClose={onClose} onDone={async (form) => {
        await saveProperties(of, attributes, properties.metadata ?? {}, form);
        onDone();
    }}>
        <Facts of={[['Size', file && bytes(file.contentLength)], ['Created', time(properties.fileCreatedOn)], ['Written', time(properties.fileLastWriteOn)],
            ['Changed', time(properties.fileChangeOn)], ['ETag', properties.etag], ['File id', properties.fileId], ['Lease', file?.leaseState]]} />
        <fieldset class="checks"><legend>Attributes</legend>
            {ATTRIBUTES.map(([name, label]) => <label key={name}><input type="checkbox" name={`is-${name}`} defaultChecked={attributes[name as Attribute]} /> {label}</label>)}
        </fieldset>
        {file && <>
            <Field label="Content type" name="type" value={file.contentType} />
            <Field label="Content encoding" name="encoding" value={file.contentEncoding} />
            <Field label="Content language" name="language" value={file.contentLanguage} />
            <Field label="Cache control" name="cache" value={file.cacheControl} />
            <Field label="Content disposition" name="disposition" value={file.contentDisposition} />
        </>}
        <Field label="Metadata: name = value, one a line" name="pairs" rows={4} value={linesOf(properties.metadata)} />
    </Form>;
}

// ---- handles ----

const HANDLES_MAX = 1000;

async function loadHandles({ kind, client }: Target): Promise<HandleItem[]> {
    const found: HandleItem[] = [];

    for await (const handle of kind === 'directory' ? client.listHandles({ recursive: true }) : client.listHandles()) {
        found.push(handle);
        if (found.length === HANDLES_MAX)
            break;
    }
    return found;
}

/** What clients of SMB have open. Of a folder, what is in it too. */
export function Handles({ of, onClose }: Omit<Props, 'onDone'>) {
    const list = useLoad(() => loadHandles(of), []);
    const { problem, busy, run } = useAction();
    const close = (work: () => Promise<unknown>) => void run(async () => {
        await work();
        list.reload();
    });

    return <Dialog title={`Open handles of ${of.name}`} onClose={onClose}>
        <Problem of={list.problem ?? problem} />
        {list.value && <Table label="Handles" head={['Path', 'Client', 'Since', 'Rights', 'Actions']} empty="Nobody has it open.">
            {list.value.map((handle) => <tr key={handle.handleId}>
                <td class="name">{String(handle.path ?? '')}</td><td>{handle.clientIp}</td><td>{time(handle.openTime)}</td><td>{handle.accessRightList?.join(', ')}</td>
                <td><button type="button" class="plain" aria-label={`Close handle ${handle.handleId}`} disabled={busy}
                    onClick={() => close(() => of.client.forceCloseHandle(handle.handleId))}>Close</button></td>
            </tr>)}
        </Table>}
        <p class="buttons">
            {of.kind === 'file' && <button type="button" class="danger" disabled={busy || !list.value?.length} onClick={() => close(() => (of.client as ShareFileClient).forceCloseAllHandles())}>Close all</button>}
            {of.kind === 'directory' && <button type="button" class="danger" disabled={busy || !list.value?.length}
                onClick={() => close(() => (of.client as ShareDirectoryClient).forceCloseAllHandles({ recursive: true }))}>Close all</button>}
            <button type="button" onClick={list.reload}>Reload</button>
            <button type="button" onClick={onClose}>Done</button>
        </p>
    </Dialog>;
}
