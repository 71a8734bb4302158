// Shares and the tree of one: folders by pages, uploads, downloads, deletion.
import type { DirectoryListFilesAndDirectoriesSegmentResponse, ShareClient, ShareDirectoryClient, ShareItem } from '@azure/storage-file-share';
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { shareService } from './clients.ts';
import { Handles, Properties, Rename, type Target } from './file.tsx';
import { bytes, counted, number, time } from './format.ts';
import { Name, visible } from './names.tsx';
import { type Column, keysOf } from './order.ts';
import { DropZone, type Found } from './picker.tsx';
import { type Item, RemoveMarked, RemoveNamed, type Walk } from './remove.tsx';
import { hrefOf } from './route.ts';
import { ownUrl, type Session } from './server.ts';
import { Deleted, Listing, nameColumn, pageOf, Table, useList } from './table.tsx';
import { Crumbs, Field, Form, Loading, Problem, useAction } from './ui.tsx';

const PAGE = 500;
const WALKED_AT_A_TIME = 5000;

const directoryOf = (share: ShareClient, path: string[]): ShareDirectoryClient => path.reduce((of, name) => of.getDirectoryClient(name), share.rootDirectoryClient);
const shareOf = async (account: string, share: string) => (await shareService(account)).getShareClient(share);

// ---- everything in a folder ----

/** A file or folder of a share: its name is its path. */
interface Entry extends Item {
    path: string[];
}

/** Everything in a folder, the contents of each folder before the folder itself. */
async function* walkFolder(share: ShareClient, path: string[], signal: AbortSignal): AsyncGenerator<Entry> {
    const pages = directoryOf(share, path).listFilesAndDirectories({ abortSignal: signal }).byPage({ maxPageSize: WALKED_AT_A_TIME });

    for await (const { segment } of pages) {
        for (const { name, properties } of segment.fileItems)
            yield entryOf([...path, name], properties.contentLength);
        for (const { name } of segment.directoryItems)
            yield* walkEntry(share, { kind: 'directory', name }, path, signal);
    }
}

const entryOf = (path: string[], size?: number): Entry => ({ name: path.join('/'), path, size });

async function* walkEntry(share: ShareClient, { kind, name, size }: Row, path: string[], signal: AbortSignal): AsyncGenerator<Entry> {
    const own = [...path, name];

    if (kind === 'file') {
        yield entryOf(own, size);
    } else {
        yield* walkFolder(share, own, signal);
        yield { ...entryOf(own), isFolder: true };
    }
}

async function removeEntry(share: ShareClient, { path, isFolder }: Entry) {
    const parent = directoryOf(share, path.slice(0, -1)), name = path.at(-1)!;

    await (isFolder ? parent.deleteSubdirectory(name) : parent.deleteFile(name));
}

// ---- shares ----

const filesIn = (account: string, name: string): Walk => async function* (signal) {
    yield* walkFolder(await shareOf(account, name), [], signal);
};

const SHARES = (account: string): Column<ShareItem>[] => [
    nameColumn((name) => hrefOf('files', [account, name])),
    { title: 'Modified', kind: 'time', by: ({ properties }) => properties.lastModified, cell: ({ properties }) => time(properties.lastModified) },
    { title: 'Quota', kind: 'number', by: ({ properties }) => properties.quota, cell: ({ properties }) => `${number(properties.quota)} GiB` },
];

function Shares({ account }: { account: string }) {
    const columns = SHARES(account);
    const list = useList<ShareItem>(async (mark) => pageOf((await shareService(account)).listShares({ includeDeleted: true }).byPage({ maxPageSize: PAGE, continuationToken: mark }),
        ({ shareItems }) => shareItems ?? []), keysOf(columns), PAGE, [account]);
    const restore = async (name: string, version: string) => {
        await (await shareService(account)).undeleteShare(name, version);
        list.reload();
    };

    return <><Listing title="Shares" one="share" list={list} rows={list.rows.filter((item) => !item.deleted)} columns={columns}
        fields={<>
            <Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />
            <Field label="Quota, GiB" name="quota" type="number" value="5120" required />
        </>}
        create={async (form, name) => (await shareOf(account, name)).create({ quota: Number(form.get('quota')) })}
        removal={(name, onClose, onDone) => <RemoveNamed kind="share" name={name} one="file" walk={filesIn(account, name)} onClose={onClose} onDone={onDone}
            remove={async () => (await shareOf(account, name)).delete()} />} />
        <Deleted title="Deleted shares" restore={restore} of={list.rows.filter((item) => item.deleted).map(({ name, version, properties }) =>
            ({ name, version, deleted: properties.deletedTime, days: properties.remainingRetentionDays }))} />
    </>;
}

// ---- the tree of a share ----

interface Row {
    kind: 'directory' | 'file';
    name: string;
    size?: number | undefined;
    modified?: Date | undefined;
}

const rowsOf = ({ segment }: DirectoryListFilesAndDirectoriesSegmentResponse): Row[] => [
    ...segment.directoryItems.map(({ name, properties }): Row => ({ kind: 'directory', name, modified: properties?.lastWriteTime })),
    ...segment.fileItems.map(({ name, properties }): Row => ({ kind: 'file', name, size: properties.contentLength, modified: properties.lastWriteTime })),
];
const keyOf = ({ kind, name }: Row) => `${kind} ${name}`;

const targetOf = (here: ShareDirectoryClient, { kind, name }: Row): Target => (kind === 'file' ? { kind, name, client: here.getFileClient(name) }
    : { kind, name, client: here.getDirectoryClient(name) });

/** Uploads files one after the other, into folders that are created as they are needed. */
function useUploads(into: () => Promise<ShareDirectoryClient>, onDone: () => void) {
    const [doing, setDoing] = useState<{ name: string; sent: number; size: number; left: number }>();
    const { problem, busy, run } = useAction();
    const add = async (files: Found[]) => {
        const created = new Set<string>();
        await run(async () => {
            const here = await into();
            for (const [i, { file, name }] of files.entries()) {
                const show = (sent: number) => setDoing({ name, sent, size: file.size, left: files.length - i - 1 });
                const path = name.split('/');
                let folder = here;
                show(0);
                for (const part of path.slice(0, -1)) {
                    folder = folder.getDirectoryClient(part);
                    if (!created.has(folder.path))
                        await folder.createIfNotExists();
                    created.add(folder.path);
                }
                await folder.getFileClient(path.at(-1)!).uploadData(file, {
                    concurrency: 3, fileHttpHeaders: { fileContentType: file.type || 'application/octet-stream' },
                    onProgress: ({ loadedBytes }) => show(loadedBytes),
                });
            }
        });
        setDoing(undefined);
        onDone();
    };

    return { add: (files: Found[]) => void (busy || add(files)), progress: <>
        {doing && <p role="status"><Name of={doing.name} />: {bytes(doing.sent)} of {bytes(doing.size)}{doing.left > 0 && `, ${counted(doing.left, 'more file')}`}{' '}
            <progress aria-label={visible(doing.name)} max={Math.max(1, doing.size)} value={doing.sent} /></p>}
        <Problem of={problem} />
    </> };
}

function Tree({ session, account, share, path }: { session: Session; account: string; share: string; path: string[] }) {
    const directory = async () => directoryOf(await shareOf(account, share), path);
    const [here, setHere] = useState<ShareDirectoryClient>();
    const [dialog, setDialog] = useState<{ delete?: Row[] }>();
    const [marked, setMarked] = useState<Map<string, Row>>(new Map());
    const [shown, setShown] = useState<{ is: 'rename' | 'properties' | 'handles'; of: Target }>();
    const isMarked = (row: Row) => marked.has(keyOf(row));
    const mark = (rows: Row[], wanted: boolean) => setMarked((before) => {
        const after = new Map(before);
        rows.forEach((row) => wanted ? after.set(keyOf(row), row) : after.delete(keyOf(row)));
        return after;
    });
    const columns: Column<Row>[] = [
        { title: 'Mark', kind: 'mark', cell: (row) => <input type="checkbox" aria-label={`Mark ${visible(row.name)}`} checked={isMarked(row)} onChange={() => mark([row], !isMarked(row))} /> },
        { title: 'Name', kind: 'name', isListed: true, by: ({ name }) => name, cell: ({ kind, name }) => kind === 'directory'
            ? <a class="folder" href={hrefOf('files', [account, share, ...path, name])}><Name of={name} /></a>
            : here && <a href={here.getFileClient(name).url} download={name}><Name of={name} /></a> },
        { title: 'Size', kind: 'number', by: ({ size }) => size, cell: ({ kind, size }) => kind === 'file' && bytes(size) },
        { title: 'Type', by: ({ kind }) => (kind === 'directory' ? 'folder' : 'file'), cell: ({ kind }) => (kind === 'directory' ? 'folder' : 'file') },
        { title: 'Modified', kind: 'time', by: ({ modified }) => modified, cell: ({ modified }) => time(modified) },
        { title: 'Actions', kind: 'actions', cell: (row) => here && <>
            {([['rename', 'Rename'], ['properties', 'Properties'], ['handles', 'Handles']] as const).map(([is, text]) =>
                <button key={is} type="button" class="plain" aria-label={`${text} of ${visible(row.name)}`} onClick={() => setShown({ is, of: targetOf(here, row) })}>{text}</button>)}
            <button type="button" class="plain" aria-label={`Delete ${visible(row.name)}`} onClick={() => setDialog({ delete: [row] })}>Delete</button>
        </> },
    ];
    const list = useList<Row>(async (at) => {
        const folder = await directory();
        setHere(folder);
        return pageOf(folder.listFilesAndDirectories({ includeTimestamps: true }).byPage({ maxPageSize: PAGE, continuationToken: at }), rowsOf);
    }, keysOf(columns), PAGE, [account, share, path.join('/')]);
    const reload = () => {
        setMarked(new Map());
        list.reload();
    };
    const { add, progress } = useUploads(directory, reload);
    const isAll = list.rows.length > 0 && list.rows.every(isMarked);
    columns[0]!.head = <input type="checkbox" name="all" aria-label="Mark all" checked={isAll} onChange={() => mark(list.rows, !isAll)} />;

    return <>
        <Crumbs of={[['Shares', hrefOf('files', [account])], [share, hrefOf('files', [account, share])],
            ...path.map((name, i): [string, string] => [name, hrefOf('files', [account, share, ...path.slice(0, i + 1)])])]} />
        <h1><Name of={path.at(-1) ?? share} /></h1>
        <DropZone onFiles={add}>
            {progress}
            <div class="tools">
                <button type="button" onClick={() => setDialog({})}>New folder</button>
                <button type="button" onClick={reload}>Reload</button>
                <button type="button" class="danger" disabled={marked.size === 0} onClick={() => setDialog({ delete: [...marked.values()] })}>Delete {marked.size || ''} marked…</button>
            </div>
            <Loading of={list} />
            {list.value && <Table label="Files" columns={columns} of={list.rows} keyOf={keyOf} empty="The folder is empty." order={list.order} onOrder={list.setOrder} />}
            {list.pages}
        </DropZone>
        {shown?.is === 'rename' && <Rename of={shown.of} url={ownUrl(session, 'file', account)} onClose={() => setShown(undefined)} onDone={reload} />}
        {shown?.is === 'properties' && <Properties of={shown.of} onClose={() => setShown(undefined)} onDone={reload} />}
        {shown?.is === 'handles' && <Handles of={shown.of} onClose={() => setShown(undefined)} />}
        {dialog && !dialog.delete && <Form title="New folder" action="Create" onClose={() => setDialog(undefined)} onDone={async (form) => {
            await (await directory()).createSubdirectory(String(form.get('name')));
            reload();
        }}><Field label="Name" name="name" required /></Form>}
        {dialog?.delete && <RemoveEntries account={account} share={share} path={path} of={dialog.delete} onClose={() => setDialog(undefined)} onDone={reload} />}
    </>;
}

function RemoveEntries({ account, share, path, of, onClose, onDone }: { account: string; share: string; path: string[]; of: Row[]; onClose: () => void; onDone: () => void }) {
    const folders = of.filter(({ kind }) => kind === 'directory').length, files = of.length - folders;
    const some = [files > 0 && counted(files, 'file'), folders > 0 && counted(folders, 'folder')].filter(Boolean).join(' and ');

    return <RemoveMarked title={of.length === 1 ? <>Delete <Name of={of[0]!.name} />?</> : `Delete ${some}?`} one="file" onClose={onClose} onDone={onDone}
        walk={async function* (signal) {
            const client = await shareOf(account, share);
            for (const row of of)
                yield* walkEntry(client, row, path, signal);
        }} remove={async (entry) => removeEntry(await shareOf(account, share), entry as Entry)}>
        {folders > 0 && <p>Folders are deleted with everything in them.</p>}
    </RemoveMarked>;
}

export default function FilesPage({ session, account, route }: PageProps) {
    const [, share, ...path] = route.parts;

    return share ? <Tree key={`${account}/${share}/${path.join('/')}`} session={session} account={account} share={share} path={path} /> : <Shares key={account} account={account} />;
}
