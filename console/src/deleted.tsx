// The deleted paths of a container of a hierarchical account: each deletion is listed, and restored by its id.
import { bytes, daysLeft, time } from './format.ts';
import { listBlobs, type Listed } from './list.ts';
import { Name, visible } from './names.tsx';
import type { Column } from './order.ts';
import { undeletePath } from './paths.ts';
import { Scroller } from './scroller.tsx';
import { Problem, useAction } from './ui.tsx';

const PAGE = 1000;

/** turn: changes when the list must be read again */
export function DeletedPaths({ account, container, prefix, turn, onRestored }: {
    account: string; container: string; prefix: string; turn: number; onRestored: () => void;
}) {
    const { problem, busy, run } = useAction();
    const undelete = ({ name, deletionId = '' }: Listed) => void run(async () => {
        await undeletePath(account, container, name, deletionId);
        onRestored();
    });
    const columns: Column<Listed>[] = [
        { title: 'Name', kind: 'name', isListed: true, by: ({ name }) => name, cell: ({ name }) => <div class="cut" title={visible(name)}><del><Name of={name} /></del></div> },
        { title: 'Size', kind: 'number', by: ({ size }) => size, cell: ({ size, isFolder }) => (isFolder ? '' : size !== undefined && bytes(size)) },
        { title: 'Type', by: ({ isFolder }) => (isFolder ? 1 : 0), cell: ({ type, isFolder }) => (isFolder ? 'folder' : type) },
        { title: 'Deleted', kind: 'time', by: ({ deletedAt }) => deletedAt, cell: ({ deletedAt }) => time(deletedAt) },
        { title: 'Retention', by: ({ daysKept }) => daysKept ?? 0, cell: ({ daysKept }) => daysLeft(daysKept) },
        { title: 'Actions', kind: 'actions', cell: (row) => <button type="button" class="plain" disabled={busy}
            aria-label={`Undelete ${visible(row.name)}`} onClick={() => undelete(row)}>Undelete</button> },
    ];

    return <>
        <Problem of={problem} />
        <Scroller<Listed> label="Deleted paths" columns={columns} empty="No deleted paths are retained here." of={[account, container, prefix, turn]}
            load={(mark) => listBlobs(account, container, { prefix, mark, count: PAGE, isFlat: true, isDeleted: true })} />
    </>;
}
