// Directories of accounts with a hierarchical namespace, and the dialogs that files have in common with them: rename, access.
import { useState } from 'preact/hooks';
import { counted } from './format.ts';
import { walkBlobs } from './list.ts';
import { Name } from './names.tsx';
import { type Access, type AccessMode, accessOf, createDirectory, removeDirectory, renamePath, setAccess, setAccessBelow } from './paths.ts';
import { type Item, RemoveMarked } from './remove.tsx';
import { Choice, Dialog, Facts, Field, Form, Loading, Problem, useLoad } from './ui.tsx';

interface Of {
    account: string;
    container: string;
    path: string; // "" is the root directory
}

export const AccessFacts = ({ of }: { of: Access | undefined }) =>
    <Facts of={[['Owner', of?.owner], ['Group', of?.group], ['Permissions', of?.permissions && <code>{of.permissions}</code>],
        ['Access control list', of && <code>{of.entries.join(', ')}</code>]]} />;

export function Rename({ account, container, path, isDirectory, onClose, onDone }: Of & { isDirectory: boolean; onClose: () => void; onDone: (path: string) => void }) {
    return <Form title={<>Rename <Name of={path} /></>} action="Rename" onClose={onClose} onDone={async (form) => {
        const to = String(form.get('path')).replace(/^\/+|\/+$/g, '');
        await renamePath(account, container, path, to, form.get('over') !== null);
        onDone(to);
    }}>
        <Field label="Path in the container" name="path" value={path} required hint="The directory that it names must exist." />
        {!isDirectory && <label class="field"><input type="checkbox" name="over" /> Overwrite an existing file</label>}
    </Form>;
}

const entriesOf = (form: FormData) => String(form.get('entries')).split(/[\s,]+/).filter(Boolean);
const ENTRY_HINT = 'One entry per line, such as user:NAME:r-x; "default:" before an entry of a directory applies to what is created in it.';

/** Edits the owner, the group, and either the permissions or the list of a path. */
export function AccessControl({ account, container, path, onClose, onDone }: Of & { onClose: () => void; onDone: () => void }) {
    const { value, problem, reload } = useLoad(() => accessOf(account, container, path), [account, container, path]);
    const title = <>Access control of <Name of={path || container} /></>;

    if (!value)
        return <Dialog title={title} onClose={onClose}>
            <Problem of={problem} retry={reload} />
            <p class="buttons"><button type="button" onClick={onClose}>Close</button></p>
        </Dialog>;
    return <Form title={title} action="Save" onClose={onClose} onDone={async (form) => {
        const permissions = String(form.get('permissions')).trim(), entries = entriesOf(form);
        const changes = {
            owner: String(form.get('owner')).trim(), group: String(form.get('group')).trim(),
            ...(permissions !== value.permissions && { permissions }), ...(entries.join() !== value.entries.join() && { entries }),
        };
        if (changes.permissions && changes.entries)
            throw new Error('Change either the permissions or the list: each determines the other.');
        await setAccess(account, container, path, changes);
        onDone();
    }}>
        <Field label="Owner" name="owner" value={value.owner} required />
        <Field label="Owning group" name="group" value={value.group} required />
        <Field label="Permissions" name="permissions" value={value.permissions} required hint="Symbolic (rwxr-x---) or octal (0750)." />
        <Field label="Access control list" name="entries" rows={8} value={value.entries.join('\n')} required hint={ENTRY_HINT} />
    </Form>;
}

const MODES: [AccessMode, string][] = [['modify', 'Add or change these entries'], ['remove', 'Remove these entries'], ['set', 'Replace the lists']];

/** Changes the lists of everything in a directory. */
function AccessBelow({ account, container, path, onClose, onDone }: Of & { onClose: () => void; onDone: () => void }) {
    const [count, setCount] = useState<number>();

    return <Form title={<>Access control of everything in <Name of={path || container} /></>} action="Apply" onClose={onClose} onDone={async (form) => {
        const mode = String(form.get('mode')) as AccessMode;
        // An entry to remove has no permissions.
        const entries = entriesOf(form).map((entry) => (mode === 'remove' ? entry.replace(/:[r-][w-][x-]$/, '') : entry));
        await setAccessBelow(account, container, path, mode, entries, setCount);
        onDone();
    }}>
        <Choice label="Change" name="mode" of={MODES} />
        <Field label="Entries" name="entries" rows={6} required hint={ENTRY_HINT} />
        {count !== undefined && <p role="status">{counted(count, 'path')} changed</p>}
    </Form>;
}

/** Deletes a directory in one step. Its contents are counted first. */
function RemoveDirectory({ account, container, path, onClose, onDone }: Of & { onClose: () => void; onDone: () => void }) {
    const itself: Item = { name: path, isFolder: true };

    return <RemoveMarked title={<>Delete <Name of={path} />?</>} one="blob" onClose={onClose} onDone={onDone}
        walk={async function* (signal) {
            yield* walkBlobs(account, container, `${path}/`, { signal });
            yield itself;
        }}
        parts={async function* () {
            yield itself;
        }}
        remove={() => removeDirectory(account, container, path)}>
        <p>Everything in the directory is deleted with it, in one step.</p>
    </RemoveMarked>;
}

type Dialogs = 'new' | 'rename' | 'access' | 'below' | 'delete';

/** What a page shows of its directory. onMoved: it, or a directory in it, has this path now. */
export function Directory({ account, container, path, onMoved, onGone, onChanged }: Of & { onMoved: (path: string) => void; onGone: () => void; onChanged: () => void }) {
    const access = useLoad(() => accessOf(account, container, path), [account, container, path]);
    const [dialog, setDialog] = useState<Dialogs>();
    const buttons: [Dialogs, string][] = [['new', 'New directory…'], ...(path ? [['rename', 'Rename…']] as [Dialogs, string][] : []), ['access', 'Access control…'],
        ['below', 'Access control of everything here…'], ...(path ? [['delete', 'Delete directory…']] as [Dialogs, string][] : [])];
    const of = { account, container, path, onClose: () => setDialog(undefined) };

    return <section aria-label="Directory">
        <Loading of={access} />
        <AccessFacts of={access.value} />
        <p class="buttons">{buttons.map(([id, text]) => <button key={id} type="button" onClick={() => setDialog(id)}>{text}</button>)}</p>
        {dialog === 'new' && <Form title="New directory" action="Create" onClose={of.onClose} onDone={async (form) => {
            const name = String(form.get('name')).replace(/^\/+|\/+$/g, '');
            await createDirectory(account, container, path ? `${path}/${name}` : name);
            onChanged();
        }}><Field label="Name" name="name" required /></Form>}
        {dialog === 'rename' && <Rename {...of} isDirectory onDone={onMoved} />}
        {dialog === 'access' && <AccessControl {...of} onDone={access.reload} />}
        {dialog === 'below' && <AccessBelow {...of} onDone={access.reload} />}
        {dialog === 'delete' && <RemoveDirectory {...of} onDone={onGone} />}
    </section>;
}
