import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { workspace } from '../../api/workspace.ts';
import { audit as words } from '../../texts/audit.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { download } from '../../ui/download.ts';
import { say } from '../../ui/message.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { type AuditEntry, auditQuery, isInstallation, logHeader } from './filter.ts';

/** More than this is for the archive of an assessment, which is streamed. */
const MOST = 5_000;
const PAGE = 200;

/** The entries with these filters as JSON lines, newest first, saved by the browser. */
export function Export() {
  const count = useSignal(0);
  const abort = useRef<AbortController | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => () => abort.current?.abort(), []);
  const run = () =>
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
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
      const log = isInstallation.peek() ? 'installation' : (workspace.peek()?.slug ?? '');
      const day = new Date().toISOString().slice(0, 10);
      download(`audit-${log}-${day}.jsonl`, new Blob(lines, { type: 'application/jsonl' }));
      say(cursor === undefined ? words.downloaded(entries.length) : words.cut(MOST));
    });
  return (
    <div class="stack-small">
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="button" disabled={isActing.value} onClick={run}>
          {words.download}
        </button>
        {isActing.value ? (
          <>
            <span role="status">{words.reading(count.value)}</span>
            <button type="button" onClick={() => abort.current?.abort()}>
              {texts.common.cancel}
            </button>
          </>
        ) : (
          <span class="dim small">{words.downloadMost(MOST)}</span>
        )}
      </div>
    </div>
  );
}
