// Blobs: the containers of an account, or the folders and blobs of one container, and one of these blobs.
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { ContainerAccess } from './access.tsx';
import { Blob } from './blob.tsx';
import { aboutContainer, Containers } from './containers.tsx';
import { containerOf } from './clients.ts';
import { bytes, counted, daysLeft, time } from './format.ts';
import { go, hrefOf } from './route.ts';
import { listBlobs, type Listed, walkBlobs } from './list.ts';
import { Name, visible } from './names.tsx';
import type { Column } from './order.ts';
import { DeletedPaths } from './deleted.tsx';
import { DropZone } from './picker.tsx';
import { type Item, RemoveMarked } from './remove.tsx';
import { Scroller } from './scroller.tsx';
import { Crumbs, Field, Problem, useAction } from './ui.tsx';
import { Directory } from './directory.tsx';
import { hasDirectories, removeDirectory } from './paths.ts';
import { Sas } from './sas.tsx';
import { Uploads } from './upload.tsx';
import { addUploads } from './uploads.ts';

const PAGE = 1000;

/** The folders above a prefix: ["a/", "a/b/"] of "a/b/". */
const foldersOf = (prefix: string) => prefix.split('/').slice(0, -1).map((_, i, all) => `${all.slice(0, i + 1).join('/')}/`);
const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const lastOf = (folder: string) => folder.split('/').at(-2) ?? folder;

// ---- marks ----

/** The marked entries of a folder: all except those in `of`, or only those. */
interface Marks {
    isAll: boolean;
    of: Map<string, Listed>;
}
const NO_MARKS: Marks = { isAll: false, of: new Map() };

const keyOf = ({ isFolder, name }: Listed) => `${isFolder ? 'folder' : 'blob'} ${name}`;
const isMarked = ({ isAll, of }: Marks, row: Listed) => of.has(keyOf(row)) !== isAll;
const canMark = ({ daysKept, hasVersionsOnly }: Listed) => daysKept === undefined && !hasVersionsOnly;

function toggled({ isAll, of }: Marks, row: Listed): Marks {
    const after = new Map(of);

    if (!after.delete(keyOf(row)))
        after.set(keyOf(row), row);
    return { isAll, of: after };
}

function marksWords({ isAll, of }: Marks): string {
    const folders = [...of.values()].filter(({ isFolder }) => isFolder).length, blobs = of.size - folders;
    const some = [blobs > 0 && counted(blobs, 'blob'), folders > 0 && counted(folders, 'folder')].filter(Boolean).join(' and ');

    return isAll ? `everything listed here${some && ` except ${some}`}` : some;
}

/** The entries of the list that are marked. */
async function* markedRows(account: string, container: string, listed: string, { isAll, of }: Marks, signal: AbortSignal): AsyncGenerator<Listed> {
    for await (const row of isAll ? walkBlobs(account, container, listed, { isFlat: false, signal }) : of.values())
        if (!isAll || !of.has(keyOf(row)))
            yield row;
}

/** All blobs that are marked, those in marked folders too; of a tree, also the folders. */
async function* walkMarked(account: string, container: string, rows: AsyncIterable<Listed>, isTree: boolean, signal: AbortSignal): AsyncGenerator<Item> {
    for await (const row of rows) {
        if (!row.isFolder) {
            yield { name: row.name, size: row.size, modified: row.modified };
            continue;
        }
        yield* walkBlobs(account, container, row.name, { signal }) as AsyncGenerator<Item>;
        if (isTree)
            yield { name: row.name, isFolder: true };
    }
}

// ---- the list ----

function List({ account, container, prefix, chosen, isTree }: { account: string; container: string; prefix: string; chosen: string | null; isTree: boolean }) {
    const [search, setSearch] = useState('');
    const [marks, setMarks] = useState(NO_MARKS);
    const [deletes, setDeletes] = useState<Marks>();
    const [withDeleted, setWithDeleted] = useState(false);
    const [turn, setTurn] = useState(0);
    const { problem, busy, run } = useAction();
    const reload = () => {
        setMarks(NO_MARKS);
        setTurn((n) => n + 1);
    };
    const undelete = (name: string) => void run(async () => {
        await (await containerOf(account, container)).getBlobClient(name).undelete();
        reload();
    });
    const short = (name: string) => name.slice(prefix.length) || name;
    const hasMarks = marks.isAll || marks.of.size > 0;
    const columns: Column<Listed>[] = [
        { title: 'Mark', kind: 'mark',
            head: <input type="checkbox" name="all" aria-label="Mark all" checked={marks.isAll && marks.of.size === 0} ref={(box) => {
                if (box)
                    box.indeterminate = hasMarks && !(marks.isAll && marks.of.size === 0);
            }} onChange={(event) => setMarks({ isAll: event.currentTarget.checked, of: new Map() })} />,
            cell: (row) => canMark(row) && <input type="checkbox" aria-label={`Mark ${visible(row.name)}`} checked={isMarked(marks, row)} onChange={() => setMarks((before) => toggled(before, row))} /> },
        { title: 'Name', kind: 'name', isListed: true, by: ({ name }) => name, cell: ({ name, isFolder, daysKept }) => <div class="cut" title={visible(short(name))}>
            {isFolder ? <a class="folder" href={hrefOf('blobs', [account, container, name])}><Name of={short(name)} /></a>
                : daysKept !== undefined ? <del><Name of={short(name)} /></del>
                    : <a href={hrefOf('blobs', [account, container, prefix], { blob: name })} aria-current={name === chosen ? 'true' : undefined}><Name of={short(name)} /></a>}
        </div> },
        { title: 'Size', kind: 'number', by: ({ size }) => size, cell: ({ size, isFolder }) => isFolder ? '' : size !== undefined && bytes(size) },
        { title: 'Type', by: ({ type }) => type, cell: ({ type, isFolder }) => isFolder ? 'folder' : type },
        { title: 'Tier', by: ({ tier }) => tier, cell: ({ tier }) => tier },
        { title: 'Modified', kind: 'time', by: ({ modified }) => modified, cell: ({ modified }) => time(modified) },
        ...withDeleted ? [{ title: 'Deleted', cell: ({ name, daysKept, hasVersionsOnly }: Listed) => hasVersionsOnly ? 'only versions remain' : daysKept !== undefined && <>
            {daysLeft(daysKept)} <button type="button" class="plain" disabled={busy} aria-label={`Undelete ${visible(name)}`} onClick={() => undelete(name)}>Undelete</button>
        </> }] : [],
    ];

    return <DropZone onFiles={(files) => addUploads(account, container, files.map(({ file, name }) => ({ file, name: prefix + name })))}>
        <Uploads account={account} container={container} onDone={reload} />
        <div class="tools">
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                setMarks(NO_MARKS);
                setSearch(String(new FormData(event.currentTarget).get('search')));
            }}>
                <Field label="Name prefix" name="search" value={search} />
                <button type="submit">Search</button>
            </form>
            <label class="check"><input type="checkbox" name="deleted" checked={withDeleted} onChange={(event) => {
                setMarks(NO_MARKS);
                setWithDeleted(event.currentTarget.checked);
            }} /> Show deleted</label>
            <button type="button" onClick={reload}>Reload</button>
            <button type="button" class="danger" disabled={!hasMarks} onClick={() => setDeletes(marks)}>Delete {marks.isAll ? 'all marked' : `${marks.of.size || ''} marked`}…</button>
        </div>
        <Problem of={problem} />
        {isTree && withDeleted ? <DeletedPaths account={account} container={container} prefix={prefix + search} turn={turn} onRestored={reload} /> : <Scroller<Listed> label="Blobs" columns={columns} empty="There are no blobs here." group={({ isFolder }) => (isFolder ? 0 : 1)}
            of={[account, container, prefix, search, withDeleted, turn]} load={(mark) => listBlobs(account, container, { prefix: prefix + search, mark, count: PAGE, withDeleted })} />}
        {deletes && <RemoveMarked title={`Delete ${marksWords(deletes)}?`} one="blob" onClose={() => setDeletes(undefined)} onDone={reload}
            walk={(signal) => walkMarked(account, container, markedRows(account, container, prefix + search, deletes, signal), isTree, signal)}
            {...(isTree && { parts: (signal: AbortSignal) => markedRows(account, container, prefix + search, deletes, signal) })}
            remove={async ({ name, isFolder }, newest) => (isFolder ? removeDirectory(account, container, name.replace(/\/$/, ''))
                : (await containerOf(account, container)).deleteBlob(name, { deleteSnapshots: 'include', conditions: { ifUnmodifiedSince: newest } }))}>
            <p>Their snapshots are deleted too. Blobs that are changed after this count are not deleted{isTree && ', except in folders, each of which is deleted in one step'}.</p>
        </RemoveMarked>}
    </DropZone>;
}

export default function Blobs({ session, account, route }: PageProps) {
    const [, container, prefix = ''] = route.parts;
    const blob = route.query.get('blob');
    const [gone, setGone] = useState(0);
    const [dialog, setDialog] = useState<'access' | 'sas'>();

    if (!container)
        return <Containers key={account} account={account} isTree={session.hierarchical.includes(account)} />;
    const isTree = hasDirectories(session, account);
    const directory = prefix.replace(/\/$/, '');
    const showDirectory = (path: string) => go(hrefOf('blobs', [account, container, path && `${path}/`]));
    const about = aboutContainer(container);
    return <>
        <Crumbs of={[['Containers', hrefOf('blobs', [account])], [container, hrefOf('blobs', [account, container])],
            ...foldersOf(prefix).map((folder): [string, string] => [lastOf(folder), hrefOf('blobs', [account, container, folder])])]} />
        <h1><Name of={lastOf(prefix) || container} /></h1>
        {about && <p class="about">{about}</p>}
        <p class="buttons">
            <button type="button" onClick={() => setDialog('access')}>Access policies…</button>
            <button type="button" onClick={() => setDialog('sas')}>Create a SAS link…</button>
        </p>
        {isTree && !about && <Directory key={directory} account={account} container={container} path={directory} onMoved={showDirectory}
            onGone={() => showDirectory(parentOf(directory))} onChanged={() => setGone(gone + 1)} />}
        {dialog === 'access' && <ContainerAccess account={account} container={container} onClose={() => setDialog(undefined)} />}
        {dialog === 'sas' && <Sas session={session} account={account} container={container} onClose={() => setDialog(undefined)} />}
        <div class={blob === null ? '' : 'columns'}>
            <List key={`${account}/${container}/${prefix}/${gone}`} account={account} container={container} prefix={prefix} chosen={blob} isTree={isTree} />
            {blob !== null && <Blob key={`${container}/${blob}`} session={session} account={account} container={container} name={blob} isTree={isTree}
                onClose={() => go(hrefOf('blobs', [account, container, prefix]))} onGone={() => {
                    setGone(gone + 1);
                    go(hrefOf('blobs', [account, container, prefix]));
                }} onMoved={(path) => {
                    setGone(gone + 1);
                    go(hrefOf('blobs', [account, container, parentOf(path) && `${parentOf(path)}/`], { blob: path }));
                }} />}
        </div>
    </>;
}
