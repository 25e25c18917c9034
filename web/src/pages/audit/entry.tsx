import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import { linkTo } from '../../route/route.ts';
import { audit as words } from '../../texts/audit.ts';
import { texts } from '../../texts/texts.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { ApprovalOf } from './entry-words.tsx';
import { type AuditEntry, isInstallation, logHeader } from './filter.ts';

/** One entry with all that it holds, and the proof that it is in the signed log. */
export function Entry({ seq, closeTo }: { seq: string; closeTo: string }) {
  const loaded = useLoaded(() => readEntry(seq), { live: false });
  return <ReadResult of={loaded.value}>{(entry) => <EntryView entry={entry} closeTo={closeTo} />}</ReadResult>;
}

function EntryView({ entry, closeTo }: { entry: AuditEntry; closeTo: string }) {
  const { at, actor, reason, revision, requestId, event, origin, result, approval, changes = [], detail } = entry;
  const text = JSON.stringify(entry, null, 2);
  return (
    <article class="panel stack" aria-label={words.entry(entry.seq)}>
      <div class="row">
        <h2>{words.entry(entry.seq)}</h2>
        <ApprovalOf entry={entry} />
        <a class="push" href={closeTo}>
          {texts.common.close}
        </a>
      </div>
      <Facts
        facts={[
          [words.when, <Time key="at" at={at} />],
          [words.who, actor],
          [words.what, event],
          [words.reason, reason],
          [words.result, result && (result === 'ok' ? words.ok : words.refused)],
          [words.origin, origin],
          [words.revision, revision],
          [words.reviewed, approval && words.approved(approval.reviewedBy)],
          [
            words.workflow,
            approval && !isInstallation.value && (
              <a href={linkTo('review', [approval.workflowId])}>{approval.workflowId}</a>
            ),
          ],
          [words.request, requestId && <code>{requestId}</code>],
        ]}
      />
      {changes.length > 0 && (
        <section class="stack-small">
          <h3>{words.changes}</h3>
          <ul class="stack-small">
            {changes.map(({ type, kind, name, uid }) => (
              <li key={`${kind} ${uid}`} class="row" title={uid}>
                <span class="tag">{words.changed[type]}</span> {kind} <strong class="break">{name}</strong>
              </li>
            ))}
          </ul>
        </section>
      )}
      {detail && (
        <section class="stack-small">
          <h3>{words.detail}</h3>
          <Facts
            facts={Object.entries(detail).map(([name, value]) => [
              name,
              typeof value === 'string' ? value : JSON.stringify(value),
            ])}
          />
        </section>
      )}
      <Proof seq={entry.seq} />
      <details>
        <summary>{words.whole}</summary>
        <CodeBlock label={words.entry(entry.seq)} text={text} />
      </details>
    </article>
  );
}

/** The newest entry before the next one is this one. */
async function readEntry(seq: string): Promise<AuditEntry> {
  const missing = new Problem({ title: words.notThere(seq), code: 'not_found', status: 404 });
  if (!/^\d{1,14}$/.test(seq)) throw missing;
  const query = { cursor: String(Number(seq) + 1), limit: 1 };
  const { items } = await answer(api.GET('/api/v1/audit', { params: { query, header: logHeader.value } }));
  const [entry] = items;
  if (entry?.seq !== Number(seq)) throw missing;
  return entry;
}

function Proof({ seq }: { seq: number }) {
  const loaded = useLoaded(
    () => answer(api.GET('/api/v1/audit/proof', { params: { query: { index: seq }, header: logHeader.value } })),
    { live: false },
  );
  return (
    <section class="stack-small">
      <h3>{words.proof}</h3>
      <ReadResult of={loaded.value}>
        {({ to, hashes }) => (
          <p>
            {words.proven(to.size)} {words.hashes(hashes.length)}
          </p>
        )}
      </ReadResult>
    </section>
  );
}
