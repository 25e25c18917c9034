import { workspace } from '../api/workspace.ts';
import { csvText } from './csv-text.ts';
import { download } from './download.ts';

/** Saves a list under its name, the workspace and the day. */
export function downloadCsv(name: string, rows: readonly (readonly string[])[]): void {
  const file = [name, workspace.peek()?.slug ?? '', new Date().toISOString().slice(0, 10)].filter(Boolean).join('-');
  download(`${file}.csv`, new Blob([csvText(rows)], { type: 'text/csv' }));
}

/** Saves what the list shows, with the search that it has. */
export function CsvButton({ name, rows }: { name: string; rows: () => readonly (readonly string[])[] }) {
  return (
    <button type="button" onClick={() => downloadCsv(name, rows())}>
      Download CSV
    </button>
  );
}
