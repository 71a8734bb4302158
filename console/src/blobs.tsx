// Blobs: the containers of an account, or what is in one: its folders and blobs by pages, and one of them.
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { ContainerAccess } from './access.tsx';
import { Blob } from './blob.tsx';
import { Containers } from './containers.tsx';
import { containerOf } from './clients.ts';
import { bytes, daysLeft, time } from './format.ts';
import { go, hrefOf } from './route.ts';
import { listBlobs, type Listed } from './list.ts';
import { Scroller } from './scroller.tsx';
import { Crumbs, Field, Form, Problem, useAction } from './ui.tsx';
import { Sas } from './sas.tsx';
import { Uploads } from './upload.tsx';

const PAGE = 1000;
const DELETED_AT_A_TIME = 8;

/** The folders above a prefix: ["a/", "a/b/"] of "a/b/". */
const foldersOf = (prefix: string) => prefix.split('/').slice(0, -1).map((_, i, all) => `${all.slice(0, i + 1).join('/')}/`);
const lastOf = (folder: string) => folder.split('/').at(-2) ?? folder;

async function deleteAll(account: string, container: string, names: string[]) {
    const client = await containerOf(account, container);
    const left = [...names];
    const work = async () => {
        for (let name = left.shift(); name !== undefined; name = left.shift())
            await client.deleteBlob(name, { deleteSnapshots: 'include' });
    };
    await Promise.all(Array.from({ length: DELETED_AT_A_TIME }, work));
}

function List({ account, container, prefix, chosen }: { account: string; container: string; prefix: string; chosen: string | null }) {
    const [search, setSearch] = useState('');
    const [marked, setMarked] = useState<Set<string>>(new Set());
    const [deletes, setDeletes] = useState(false);
    const [withDeleted, setWithDeleted] = useState(false);
    const [turn, setTurn] = useState(0);
    const { problem, busy, run } = useAction();
    const reload = () => {
        setMarked(new Set());
        setTurn((n) => n + 1);
    };
    const toggle = (name: string) => setMarked((before) => {
        const after = new Set(before);
        if (!after.delete(name))
            after.add(name);
        return after;
    });
    const undelete = (name: string) => void run(async () => {
        await (await containerOf(account, container)).getBlobClient(name).undelete();
        reload();
    });
    const short = (name: string) => name.slice(prefix.length) || name;

    return <div>
        <Uploads account={account} container={container} prefix={prefix} onDone={reload} />
        <div class="tools">
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                setMarked(new Set());
                setSearch(String(new FormData(event.currentTarget).get('search')));
            }}>
                <Field label="Name begins with" name="search" value={search} />
                <button type="submit">Search</button>
            </form>
            <label><input type="checkbox" name="deleted" checked={withDeleted} onChange={(event) => setWithDeleted(event.currentTarget.checked)} /> Show deleted</label>
            <button type="button" onClick={reload}>Reload</button>
            <button type="button" class="danger" disabled={marked.size === 0} onClick={() => setDeletes(true)}>Delete {marked.size || ''} marked</button>
        </div>
        <Problem of={problem} />
        <Scroller<Listed> label="Blobs" head={['Mark', 'Name', 'Size', 'Type', 'Tier', 'Modified', ...withDeleted ? ['Deleted'] : []]} empty="There are no blobs here."
            of={[account, container, prefix, search, withDeleted, turn]} load={(mark) => listBlobs(account, container, { prefix: prefix + search, mark, count: PAGE, withDeleted })}
            row={({ name, isFolder, size, type, tier, modified, daysKept, hasVersionsOnly }) => isFolder ? <>
                <td /><td class="name" title={short(name)}><a href={hrefOf('blobs', [account, container, name])}>{short(name)}</a></td>
                <td>folder</td><td /><td /><td />{withDeleted && <td />}
            </> : <>
                <td>{daysKept === undefined && !hasVersionsOnly && <input type="checkbox" aria-label={`Mark ${name}`} checked={marked.has(name)} onChange={() => toggle(name)} />}</td>
                <td class="name" title={short(name)}>{daysKept === undefined
                    ? <a href={hrefOf('blobs', [account, container, prefix], { blob: name })} aria-current={name === chosen ? 'true' : undefined}>{short(name)}</a>
                    : <del>{short(name)}</del>}</td>
                <td class="number">{size !== undefined && bytes(size)}</td>
                <td>{type}</td>
                <td>{tier}</td>
                <td>{time(modified)}</td>
                {withDeleted && <td>{hasVersionsOnly ? 'versions are left' : daysKept !== undefined && <>
                    {daysLeft(daysKept)} <button type="button" class="plain" disabled={busy} aria-label={`Undelete ${name}`} onClick={() => undelete(name)}>Undelete</button>
                </>}</td>}
            </>} />
        {deletes && <Form title={`Delete ${marked.size} blobs?`} action="Delete" danger onClose={() => setDeletes(false)} onDone={async () => {
            try {
                await deleteAll(account, container, [...marked]);
            } finally {
                reload();
            }
        }}><p>Their snapshots go with them.</p></Form>}
    </div>;
}

export default function Blobs({ session, account, route }: PageProps) {
    const [, container, prefix = ''] = route.parts;
    const blob = route.query.get('blob');
    const [gone, setGone] = useState(0);
    const [dialog, setDialog] = useState<'access' | 'sas'>();

    if (!container)
        return <Containers key={account} account={account} />;
    return <>
        <Crumbs of={[['Containers', hrefOf('blobs', [account])], [container, hrefOf('blobs', [account, container])],
            ...foldersOf(prefix).map((folder): [string, string] => [lastOf(folder), hrefOf('blobs', [account, container, folder])])]} />
        <h1>{lastOf(prefix) || container}</h1>
        <p class="buttons">
            <button type="button" onClick={() => setDialog('access')}>Access…</button>
            <button type="button" onClick={() => setDialog('sas')}>Link to the container…</button>
        </p>
        {dialog === 'access' && <ContainerAccess account={account} container={container} onClose={() => setDialog(undefined)} />}
        {dialog === 'sas' && <Sas session={session} account={account} container={container} onClose={() => setDialog(undefined)} />}
        <div class={blob === null ? '' : 'columns'}>
            <List key={`${account}/${container}/${prefix}/${gone}`} account={account} container={container} prefix={prefix} chosen={blob} />
            {blob !== null && <Blob key={`${container}/${blob}`} session={session} account={account} container={container} name={blob}
                onClose={() => go(hrefOf('blobs', [account, container, prefix]))} onGone={() => {
                    setGone(gone + 1);
                    go(hrefOf('blobs', [account, container, prefix]));
                }} />}
        </div>
    </>;
}
