// Shares and the tree of one: folders by pages, uploads, downloads, and what is deleted.
import type { DirectoryListFilesAndDirectoriesSegmentResponse, ServiceListSharesSegmentResponse, ShareDirectoryClient } from '@azure/storage-file-share';
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { shareService } from './clients.ts';
import { Handles, Properties, Rename, type Target } from './file.tsx';
import { bytes, time } from './format.ts';
import { hrefOf } from './route.ts';
import { ownUrl, type Session } from './server.ts';
import { Crumbs, Deleted, Field, Form, Listing, Pages, Problem, Table, useAction, useLoad } from './ui.tsx';

const PAGE = 500;

function Shares({ account }: { account: string }) {
    const [marks, setMarks] = useState<string[]>([]);
    const list = useLoad(async () => {
        const pages = (await shareService(account)).listShares({ includeDeleted: true }).byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return (await pages.next()).value as ServiceListSharesSegmentResponse;
    }, [account, marks]);

    const restore = async (name: string, version: string) => {
        await (await shareService(account)).undeleteShare(name, version);
        list.reload();
    };
    const items = list.value?.shareItems ?? [];
    const deleted = items.filter((item) => item.deleted);

    return <><Listing title="Shares" one="share" head={['Modified', 'Quota']} list={list} pages={<Pages of={list.value} marks={marks} setMarks={setMarks} />}
        rows={items.filter((item) => !item.deleted).map(({ name, properties: { lastModified, quota } }) =>
            ({ name, href: hrefOf('files', [account, name]), cells: [time(lastModified), `${quota} GiB`] }))}
        fields={<>
            <Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />
            <Field label="Quota, GiB" name="quota" type="number" value="5120" required />
        </>} warning="All files in it go with it."
        create={async (form, name) => (await shareService(account)).getShareClient(name).create({ quota: Number(form.get('quota')) })}
        remove={async (name) => (await shareService(account)).getShareClient(name).delete()} />
        <Deleted title="Deleted shares" restore={restore} of={deleted.map(({ name, version, properties }) =>
            ({ name, version, deleted: properties.deletedTime, days: properties.remainingRetentionDays }))} />
    </>;
}

interface Row {
    kind: 'directory' | 'file';
    name: string;
    size?: number;
    modified?: Date;
}

function rowsOf({ segment }: DirectoryListFilesAndDirectoriesSegmentResponse): Row[] {
    return [...segment.directoryItems.map(({ name, properties }): Row => ({ kind: 'directory', name, modified: properties?.lastWriteTime })),
        ...segment.fileItems.map(({ name, properties }): Row => ({ kind: 'file', name, size: properties.contentLength, modified: properties.lastWriteTime }))];
}

const targetOf = (here: ShareDirectoryClient, { kind, name }: Row): Target => (kind === 'file' ? { kind, name, client: here.getFileClient(name) }
    : { kind, name, client: here.getDirectoryClient(name) });

function Uploads({ into, onDone }: { into: () => Promise<ShareDirectoryClient>; onDone: () => void }) {
    const [doing, setDoing] = useState<{ name: string; sent: number; size: number }>();
    const { problem, run } = useAction();
    const add = async (files: File[]) => {
        await run(async () => {
            for (const file of files) {
                const show = (sent: number) => setDoing({ name: file.name, sent, size: file.size });
                show(0);
                await (await into()).getFileClient(file.name).uploadData(file, {
                    concurrency: 3, fileHttpHeaders: { fileContentType: file.type || 'application/octet-stream' },
                    onProgress: ({ loadedBytes }) => show(loadedBytes),
                });
                onDone();
            }
        });
        setDoing(undefined);
    };

    return <section aria-label="Upload">
        <label class="field"><span>Upload files</span><input type="file" name="files" multiple disabled={doing !== undefined} onChange={(event) => {
            void add([...event.currentTarget.files ?? []]);
            event.currentTarget.value = '';
        }} /></label>
        {doing && <p>{doing.name}: {bytes(doing.sent)} of {bytes(doing.size)} <progress aria-label={doing.name} max={Math.max(1, doing.size)} value={doing.sent} /></p>}
        <Problem of={problem} />
    </section>;
}

function Tree({ session, account, share, path }: { session: Session; account: string; share: string; path: string[] }) {
    const directory = async () => path.reduce((of, name) => of.getDirectoryClient(name),
        (await shareService(account)).getShareClient(share).rootDirectoryClient);
    const [marks, setMarks] = useState<string[]>([]);
    const [dialog, setDialog] = useState<{ delete?: Row }>();
    const [shown, setShown] = useState<{ is: 'rename' | 'properties' | 'handles'; of: Target }>();
    const list = useLoad(async () => {
        const here = await directory();
        const pages = here.listFilesAndDirectories({ includeTimestamps: true }).byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return { here, page: (await pages.next()).value as DirectoryListFilesAndDirectoriesSegmentResponse };
    }, [account, share, path.join('/'), marks]);

    return <>
        <Crumbs of={[['Shares', hrefOf('files', [account])], [share, hrefOf('files', [account, share])],
            ...path.map((name, i): [string, string] => [name, hrefOf('files', [account, share, ...path.slice(0, i + 1)])])]} />
        <h1>{path.at(-1) ?? share}</h1>
        <Uploads into={directory} onDone={list.reload} />
        <div class="tools">
            <button type="button" class="primary" onClick={() => setDialog({})}>New folder</button>
            <button type="button" onClick={list.reload}>Reload</button>
        </div>
        <Problem of={list.problem} />
        {list.busy && !list.value && <p>Loading…</p>}
        {list.value && <Table label="Files" head={['Name', 'Size', 'Modified', 'Actions']} empty="The folder is empty.">
            {rowsOf(list.value.page).map((row) => <tr key={row.kind + row.name}>
                <td class="name">{row.kind === 'directory' ? <a href={hrefOf('files', [account, share, ...path, row.name])}>{row.name}</a>
                    : <a href={list.value!.here.getFileClient(row.name).url} download={row.name}>{row.name}</a>}</td>
                <td class="number">{row.kind === 'directory' ? 'folder' : bytes(row.size)}</td>
                <td>{time(row.modified)}</td>
                <td>
                    {([['rename', 'Rename'], ['properties', 'Properties'], ['handles', 'Handles']] as const).map(([is, text]) =>
                        <button key={is} type="button" class="plain" aria-label={`${text} of ${row.name}`} onClick={() => setShown({ is, of: targetOf(list.value!.here, row) })}>{text}</button>)}
                    <button type="button" class="plain" aria-label={`Delete ${row.name}`} onClick={() => setDialog({ delete: row })}>Delete</button>
                </td>
            </tr>)}
        </Table>}
        <Pages of={list.value?.page} marks={marks} setMarks={setMarks} />
        {shown?.is === 'rename' && <Rename of={shown.of} url={ownUrl(session, 'file', account)} onClose={() => setShown(undefined)} onDone={list.reload} />}
        {shown?.is === 'properties' && <Properties of={shown.of} onClose={() => setShown(undefined)} onDone={list.reload} />}
        {shown?.is === 'handles' && <Handles of={shown.of} onClose={() => setShown(undefined)} />}
        {dialog && !dialog.delete && <Form title="New folder" action="Create" onClose={() => setDialog(undefined)} onDone={async (form) => {
            await (await directory()).createSubdirectory(String(form.get('name')));
            list.reload();
        }}><Field label="Name" name="name" required /></Form>}
        {dialog?.delete && <Form title={`Delete ${dialog.delete.name}?`} action="Delete" danger onClose={() => setDialog(undefined)} onDone={async () => {
            const { kind, name } = dialog.delete!;
            await (kind === 'file' ? (await directory()).deleteFile(name) : (await directory()).deleteSubdirectory(name));
            list.reload();
        }}>{dialog.delete.kind === 'directory' && <p>It has to be empty.</p>}</Form>}
    </>;
}

export default function FilesPage({ session, account, route }: PageProps) {
    const [, share, ...path] = route.parts;

    return share ? <Tree key={`${account}/${share}/${path.join('/')}`} session={session} account={account} share={share} path={path} /> : <Shares key={account} account={account} />;
}
