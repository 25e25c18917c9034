import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { workspace } from '../../api/workspace.ts';
import { useAct } from '../../ui/act.ts';
import { downloadCsv } from '../../ui/csv.tsx';
import { download } from '../../ui/download.ts';
import { say } from '../../ui/message.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { type AuditEntry, entriesText, whatOf } from './entry-words.ts';
import { auditQuery, isInstallation, logHeader } from './filter.ts';

/** More than this is for the archive of an assessment, which is streamed. */
const MOST = 5_000;
const PAGE = 200;
const CUT = `Only the newest ${entriesText(MOST)} were taken: narrow the time.`;

/** The entries with these filters, newest first, saved by the browser as JSON lines or as CSV. */
export function Export() {
  const count = useSignal(0);
  const abort = useRef<AbortController | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => () => abort.current?.abort(), []);
  const run = (isCsv: boolean) =>
    act(async () => {
      abort.current = new AbortController();
      const { signal } = abort.current;
      const entries: AuditEntry[] = [];
      let cursor: string | undefined;
      count.value = 0;
      try {
        do {
          const query = { ...auditQuery.peek(), limit: PAGE, ...(cursor && { cursor }) };
          const params = { query, header: logHeader.peek() };
          const page = await answer(api.GET('/api/v1/audit', { params, signal }));
          entries.push(...page.items);
          count.value = entries.length;
          cursor = page.next_cursor;
        } while (cursor !== undefined && entries.length < MOST);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      if (isCsv) {
        downloadCsv('audit', csvOf(entries));
        say(cursor === undefined ? `${entriesText(entries.length)} downloaded.` : CUT);
        return;
      }
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
      const log = isInstallation.peek() ? 'installation' : (workspace.peek()?.slug ?? '');
      const day = new Date().toISOString().slice(0, 10);
      download(`audit-${log}-${day}.jsonl`, new Blob(lines, { type: 'application/jsonl' }));
      say(cursor === undefined ? `${entriesText(entries.length)} downloaded.` : CUT);
    });
  return (
    <div class="stack-small">
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="button" disabled={isActing.value} onClick={() => run(false)}>
          Download as JSON lines
        </button>
        <button type="button" disabled={isActing.value} onClick={() => run(true)}>
          Download CSV
        </button>
        {isActing.value ? (
          <>
            <span role="status">{entriesText(count.value)} read…</span>
            <button type="button" onClick={() => abort.current?.abort()}>
              Cancel
            </button>
          </>
        ) : (
          <span class="dim small">
            Up to {entriesText(MOST)} with these filters. The whole log is in the evidence of an assessment, and in mesh
            audit verify.
          </span>
        )}
      </div>
    </div>
  );
}

function csvOf(entries: readonly AuditEntry[]): string[][] {
  const head = ['Number', 'Time', 'Actor', 'What', 'Approved by', 'Revision', 'Request'];
  return [
    head,
    ...entries.map((entry) => [
      ...[String(entry.seq), entry.at, entry.actor, whatOf(entry), entry.approval?.reviewedBy ?? ''],
      ...[String(entry.revision ?? ''), entry.requestId ?? ''],
    ]),
  ];
}
