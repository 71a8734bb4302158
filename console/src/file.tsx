// Dialogs for one file or folder of a share: rename, properties, open handles.
import type { HandleItem, ShareDirectoryClient, ShareFileClient } from '@azure/storage-file-share';
import { linesOf, pairsOf } from './blob.tsx';
import { renameFile } from './clients.ts';
import { bytes, time } from './format.ts';
import { Name } from './names.tsx';
import type { Column } from './order.ts';
import { Table } from './table.tsx';
import { Dialog, Facts, Field, Form, Loading, Problem, useAction, useLoad } from './ui.tsx';

export type Target = { kind: 'file'; name: string; client: ShareFileClient } | { kind: 'directory'; name: string; client: ShareDirectoryClient };
interface Props {
    of: Target;
    onClose: () => void;
    onDone: () => void;
}

/** url: of the account, for the service itself. */
export function Rename({ of, url, onClose, onDone }: Props & { url: string }) {
    return <Form title={<>Rename <Name of={of.name} /></>} action="Rename" onClose={onClose} onDone={async (form) => {
        const [, path] = new URL(of.client.url).pathname.split(/^\/console\/data\/file\/[^/]+/);
        await renameFile(of.client.url, of.kind, String(form.get('name')), url + path, form.get('over') !== null);
        onDone();
    }}>
        <Field label="Name" name="name" value={of.name} required />
        {of.kind === 'file' && <label class="field"><input type="checkbox" name="over" /> Overwrite an existing file</label>}
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
    // Metadata of a read-only file cannot be set, so it is written before or after the attribute is.
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
    const loaded = useLoad(() => loadProperties(of), []);
    const { value } = loaded;
    if (!value)
        return <Dialog title={<Name of={of.name} />} onClose={onClose}><Loading of={loaded} /><p class="buttons"><button type="button" onClick={onClose}>Close</button></p></Dialog>;
    const { properties, attributes } = value;
    const file = of.kind === 'file' ? properties as Awaited<ReturnType<ShareFileClient['getProperties']>> : undefined;

    return <Form title={<Name of={of.name} />} action="Save" onClose={onClose} onDone={async (form) => {
        await saveProperties(of, attributes, properties.metadata ?? {}, form);
        onDone();
    }}>
        <Facts of={[['Size', file && bytes(file.contentLength)], ['Created', time(properties.fileCreatedOn)], ['Last write', time(properties.fileLastWriteOn)],
            ['Last change', time(properties.fileChangeOn)], ['ETag', properties.etag], ['File id', properties.fileId], ['Lease', file?.leaseState]]} />
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
        <Field label="Metadata, one name = value per line" name="pairs" rows={4} value={linesOf(properties.metadata)} />
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

/** The handles that SMB clients have open, of a folder also those of its contents. */
const HANDLES: Column<HandleItem>[] = [
    { title: 'Path', kind: 'name', by: ({ path }) => String(path ?? ''), cell: ({ path }) => <Name of={String(path ?? '')} /> },
    { title: 'Client', by: ({ clientIp }) => clientIp, cell: ({ clientIp }) => clientIp },
    { title: 'Opened', kind: 'time', by: ({ openTime }) => openTime, cell: ({ openTime }) => time(openTime) },
    { title: 'Rights', cell: ({ accessRightList }) => accessRightList?.join(', ') },
];

export function Handles({ of, onClose }: Omit<Props, 'onDone'>) {
    const list = useLoad(() => loadHandles(of), []);
    const { problem, busy, run } = useAction();
    const close = (work: () => Promise<unknown>) => void run(async () => {
        await work();
        list.reload();
    });

    return <Dialog title={<>Open handles of <Name of={of.name} /></>} onClose={onClose}>
        <Loading of={list} />
        <Problem of={problem} />
        {list.value && <Table label="Handles" columns={[...HANDLES, { title: 'Actions', kind: 'actions', cell: ({ handleId }) =>
            <button type="button" class="plain" aria-label={`Close handle ${handleId}`} disabled={busy} onClick={() => close(() => of.client.forceCloseHandle(handleId))}>Close</button> }]}
        of={list.value} keyOf={({ handleId }) => handleId} empty="There are no open handles." />}
        <p class="buttons">
            {of.kind === 'file' && <button type="button" class="danger" disabled={busy || !list.value?.length} onClick={() => close(() => (of.client as ShareFileClient).forceCloseAllHandles())}>Close all</button>}
            {of.kind === 'directory' && <button type="button" class="danger" disabled={busy || !list.value?.length}
                onClick={() => close(() => (of.client as ShareDirectoryClient).forceCloseAllHandles({ recursive: true }))}>Close all</button>}
            <button type="button" onClick={list.reload}>Reload</button>
            <button type="button" onClick={onClose}>Done</button>
        </p>
    </Dialog>;
}
