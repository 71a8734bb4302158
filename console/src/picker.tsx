// Where files and folders are chosen with a button, or dropped on the page, to be uploaded.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** A file, and its path within what was chosen or dropped. */
export interface Found {
    file: File;
    name: string;
}

/** Returns the files of an entry that was dropped; of a folder all files below it. */
async function filesOf(entry: FileSystemEntry): Promise<Found[]> {
    if (entry.isFile) {
        const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
        return [{ file, name: entry.fullPath.replace(/^\//, '') }];
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    const found: Found[] = [];
    for (;;) {
        const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0)
            return found;
        for (const one of some)
            found.push(...await filesOf(one));
    }
}

/** An area that accepts files and folders: all of it is the drop zone, and the button at its top opens a file dialog. */
export function DropZone({ onFiles, children }: { onFiles: (files: Found[]) => void; children: ComponentChildren }) {
    const [isOver, setIsOver] = useState(false);
    const choose = (event: Event & { currentTarget: HTMLInputElement }) => {
        // The name of a file in a folder that was chosen is its path.
        onFiles([...event.currentTarget.files ?? []].map((file) => ({ file, name: file.webkitRelativePath || file.name })));
        event.currentTarget.value = '';
    };

    return <div class={isOver ? 'drop dropping' : 'drop'}
        onDragOver={(event) => {
            event.preventDefault();
            setIsOver(true);
        }}
        onDragLeave={(event) => {
            if (!event.currentTarget.contains(event.relatedTarget as Node | null))
                setIsOver(false);
        }}
        onDrop={(event) => {
            event.preventDefault();
            setIsOver(false);
            // The entries must be taken within this event: later the browser has dropped them.
            const entries = [...event.dataTransfer?.items ?? []].map((item) => item.webkitGetAsEntry());
            void Promise.all(entries.map((entry) => (entry ? filesOf(entry) : []))).then((found) => onFiles(found.flat()));
        }}>
        <section class="zone" aria-label="Upload">
            <label class="button primary">Upload<input class="unseen" type="file" name="files" multiple onChange={choose} /></label>
            <span>Drop files or folders here, or <label class="link">choose a folder
                <input class="unseen" type="file" name="folder" multiple ref={(input) => input?.setAttribute('webkitdirectory', '')} onChange={choose} /></label></span>
        </section>
        {children}
    </div>;
}
