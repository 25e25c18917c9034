import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import { Actor } from '../../design/actor.tsx';
import { Chip } from '../../design/chip.tsx';
import { linkTo } from '../../route/route.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { ResultOf } from './entry-result.tsx';
import { type AuditEntry, approvedBy, entriesText, eventText, whyOf } from './entry-words.ts';
import { isInstallation, logHeader } from './filter.ts';

/** One entry with all that it holds, and the proof that it is in the signed log. */
export function Entry({ seq, closeTo }: { seq: string; closeTo: string }) {
  const loaded = useLoaded(() => readEntry(seq), { live: false });
  return <ReadResult of={loaded.value}>{(entry) => <EntryView entry={entry} closeTo={closeTo} />}</ReadResult>;
}

function EntryView({ entry, closeTo }: { entry: AuditEntry; closeTo: string }) {
  const { at, actor, revision, requestId, origin, result, approval, changes = [], detail } = entry;
  const details = Object.entries(detail ?? {}).filter(([name]) => name !== 'reason');
  const text = JSON.stringify(entry, null, 2);
  return (
    <article class="panel stack" aria-label={`Entry ${entry.seq}`}>
      <div class="row">
        <h2>Entry {entry.seq}</h2>
        <ResultOf entry={entry} />
        <a class="push" href={closeTo}>
          Close
        </a>
      </div>
      <Facts
        facts={[
          ['When', <Time key="at" at={at} />],
          ['Who', <Actor key="actor" actor={actor} />],
          ['What', eventText(entry)],
          [result === 'refused' ? 'Refused because' : 'Why', whyOf(entry)],
          ['Result', result],
          ['From address', origin],
          ['Revision', revision],
          ['Reviewed by', approval && approvedBy(approval.reviewedBy)],
          [
            'Workflow',
            approval && !isInstallation.value && (
              <a href={linkTo('review', [approval.workflowId])}>{approval.workflowId}</a>
            ),
          ],
          ['Request', requestId && <code>{requestId}</code>],
        ]}
      />
      {changes.length > 0 && (
        <section class="stack-small">
          <h3>What changed</h3>
          <ul class="stack-small">
            {changes.map(({ type, kind, name, uid }) => (
              <li key={`${kind} ${uid}`} class="row" title={uid}>
                <Chip>{type}</Chip> {kind} <strong class="break">{name}</strong>
              </li>
            ))}
          </ul>
        </section>
      )}
      {details.length > 0 && (
        <section class="stack-small">
          <h3>Detail</h3>
          <Facts
            facts={details.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])}
          />
        </section>
      )}
      <Proof seq={entry.seq} />
      <details>
        <summary>The whole entry</summary>
        <CodeBlock label={`Entry ${entry.seq}`} text={text} />
      </details>
    </article>
  );
}

/** The newest entry before the next one is this one. */
async function readEntry(seq: string): Promise<AuditEntry> {
  const missing = new Problem({ title: `There is no entry ${seq}.`, code: 'not_found', status: 404 });
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
      <h3>Proof</h3>
      <ReadResult of={loaded.value}>
        {({ to, hashes }) => (
          <p>
            It is in the log of {entriesText(to.size)}, which is signed. {hashes.length} hashes lead from it to the
            root.
          </p>
        )}
      </ReadResult>
    </section>
  );
}
