import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useAgentNames } from '../../api/agents.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import type { components } from '../../api/schema.d.ts';
import { workspaceId } from '../../api/workspace.ts';
import { actorText } from '../../design/actor-words.ts';
import { To } from '../../design/to.tsx';
import { linkTo } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { withAgentNamesIn } from '../../ui/agent-names.ts';
import { ProblemNotice } from '../../ui/problem.tsx';
import type { Range } from '../../ui/range.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { exactTime, Time } from '../../ui/time.tsx';
import { portsText, reasonText } from './change.ts';

type Diff = components['schemas']['DiffSnapshotsResponse'];
type Group = Diff['groups'][number];
type Commit = Diff['commits'][number];
type Changes = Group['changes'];

const SIDES = [
  { side: 'opens', type: 'added', mark: '▶', title: 'Opens' },
  { side: 'closes', type: 'removed', mark: '▷̸', title: 'Closes' },
  { side: 'differs', type: 'changed', mark: '◇', title: 'Other ports' },
] as const;

/** What is different at the end of the range from its beginning, and which changes did it. */
export function Compare({ range }: { range: ReadonlySignal<Range | undefined> }) {
  const asked = useComputed(() => JSON.stringify(range.value ?? null));
  const read = (cursor?: string) => {
    const workspace = workspaceId.value ?? '';
    const { from, to } = JSON.parse(asked.value) as Range;
    return sinceKnown(from, (begin) => {
      const params = { path: { workspaceId: workspace }, query: { from: begin, to, ...(cursor && { cursor }) } };
      return answer(api.GET('/api/v1/workspaces/{workspaceId}/snapshots/diff', { params }));
    });
  };
  const first = useLoaded(async () => (asked.value === 'null' ? undefined : read()), { live: false });
  const later = useSignal<readonly Diff[]>([]);
  useSignalEffect(() => {
    asked.value;
    later.value = [];
  });
  const more = useAct();
  const agents = useAgentNames();
  const diff = withAgentNamesIn(first.value.value, agents.value.value);
  if (!diff) {
    return (
      <>
        <p class="dim">Differences between the start and the end of the range, and the changes that caused them.</p>
        <ReadResult of={first.value} />
      </>
    );
  }
  const pages = [diff, ...withAgentNamesIn(later.value, agents.value.value)];
  const groups = pages.flatMap((page) => page.groups);
  const commits = new Map(pages.flatMap((page) => page.commits).map((one) => [one.revision, one]));
  const cursor = pages.at(-1)?.next_cursor;
  const loadMore = () =>
    more.act(async () => {
      const before = asked.value;
      const page = await read(cursor);
      if (asked.value === before) later.value = [...later.value, page];
    });
  return (
    <div class="stack compare">
      <p class="dim">Differences between the start and the end of the range, and the changes that caused them.</p>
      <p>
        {exactTime(diff.from.captured_at)} <span aria-hidden="true">→</span> {exactTime(diff.to.captured_at)}
      </p>
      <ReadResult of={first.value} />
      <ReadResult of={agents.value} loading="" />
      {range.value && diff.from.captured_at > range.value.from && (
        <p class="notice">The range begins before the history. Compared from {exactTime(diff.from.captured_at)}.</p>
      )}
      {groups.length === 0 && <p>Reachability is the same at both ends.</p>}
      {!diff.outside_compared && <p class="dim">Too many outside addresses to compare.</p>}
      <Lines title="Newly open to everyone or from outside" isGrave>
        {diff.exposure.map(({ src, dst, opened, changes }) => (
          <li key={JSON.stringify([src, dst, opened])} class="break">
            {src.join(', ')} <span aria-hidden="true">→</span> {dst.join(', ')} <code>{portsText(opened)}</code>{' '}
            <Causes changes={changes} commits={commits} />
          </li>
        ))}
      </Lines>
      {SIDES.map(({ side, type, mark, title }) => {
        const own = groups.filter((group) => group.type === type);
        if (own.length === 0) return null;
        return (
          <section key={side} class={`effect ${side}`}>
            <h2>
              <span aria-hidden="true">{mark}</span> {title} ({own.length})
            </h2>
            <ul>
              {own.map((group) => (
                <GroupLine
                  key={JSON.stringify([group.src, group.dst, group.old, group.new])}
                  group={group}
                  commits={commits}
                />
              ))}
            </ul>
          </section>
        );
      })}
      <ProblemNotice problem={more.problem.value} />
      {cursor && (
        <div class="row">
          <button type="button" disabled={more.isActing.value} onClick={loadMore}>
            Load more connections
          </button>
        </div>
      )}
      <Lines title="Changed assertions">
        {diff.assertions.map(({ assertion, text, old, new: now, detail }) => (
          <li key={assertion} class="break">
            <strong>{assertion}</strong> {text}: {old} <span aria-hidden="true">→</span> {now}. {detail}
          </li>
        ))}
      </Lines>
      <Lines title="Changed controls">
        {diff.controls.map(({ framework, control, title, from, to, evidence }) => (
          <li key={`${framework} ${control}`} class="break">
            <strong>
              {framework} {control}
            </strong>{' '}
            {title}: {from} <span aria-hidden="true">→</span> {to}. {evidence}
          </li>
        ))}
      </Lines>
      <Lines title="Created, deleted and changed">
        {[
          ...diff.added.map((one) => [one, 'created'] as const),
          ...diff.removed.map((one) => [one, 'deleted'] as const),
          ...diff.changed.map((one) => [one, `changed: ${pathsOf(one)}`] as const),
        ].map(([{ kind, name }, what]) => (
          <li key={`${kind} ${name} ${what}`} class="break">
            {kind} <strong>{name}</strong> {what}
          </li>
        ))}
      </Lines>
      <Lines title="Came online or went offline">
        {diff.presence.map(({ peer, old, new: now }) => (
          <li key={peer} class="break">
            <strong>{peer}</strong> {old} <span aria-hidden="true">→</span> {now}
          </li>
        ))}
      </Lines>
    </div>
  );
}

/** Compares from where the history begins, where it begins later than the range. */
async function sinceKnown<T>(from: string, read: (from: string) => Promise<T>): Promise<T> {
  try {
    return await read(from);
  } catch (error) {
    const since = error instanceof Problem ? error.knownSince : undefined;
    if (since === undefined || since <= from) throw error;
    return read(since);
  }
}

const MAX_PATHS = 4;

function pathsOf({ changes }: Diff['changed'][number]): string {
  const paths = changes.slice(0, MAX_PATHS).map(({ path }) => path.slice(1));
  return changes.length > MAX_PATHS ? `${paths.join(', ')} and ${changes.length - MAX_PATHS} more` : paths.join(', ');
}

function GroupLine({ group, commits }: { group: Group; commits: ReadonlyMap<number, Commit> }) {
  const { type, src, dst, pairs, old, new: now, changes, together } = group;
  const isChanged = type === 'changed';
  return (
    <li>
      <span class="break">
        {src.join(', ')} <To /> {dst.join(', ')}
      </span>
      <code>{isChanged ? `${portsText(old)} → ${portsText(now)}` : portsText(type === 'added' ? now : old)}</code>
      <span class="dim small">{pairs === 1 ? '1 pair' : `${pairs} pairs`}</span>
      <span class="cause small break">
        <Causes changes={changes} commits={commits} isTogether={together} />
      </span>
    </li>
  );
}

/** The changes that did it, each as a link to where it was approved, or to its moment. */
function Causes({
  changes,
  commits,
  isTogether,
}: {
  changes: Changes;
  commits: ReadonlyMap<number, Commit>;
  isTogether?: boolean;
}) {
  if (changes.length === 0) return <span class="dim">an unknown cause</span>;
  const revisions = [...new Set(changes.flatMap((one) => one.revisions))];
  const isByTime = changes.some((one) => one.time);
  return (
    <>
      because of{' '}
      {revisions.map((revision, index) => {
        const commit = commits.get(revision);
        return (
          <>
            {index > 0 && ', '}
            <CauseLink key={revision} revision={revision} commit={commit} />
          </>
        );
      })}
      {isByTime && `${revisions.length > 0 ? ', ' : ''}expiry`}
      {isTogether && ` together`}
    </>
  );
}

function CauseLink({ revision, commit }: { revision: number; commit: Commit | undefined }) {
  if (!commit) return <>Revision {revision}</>;
  const { at, actor, reason, workflow_id: workflow, reviewed_by: reviewer } = commit;
  const href = workflow ? linkTo('review', [workflow]) : linkTo('time', [], { at });
  return (
    <>
      <a href={href}>{reasonText(reason, workflow) || `Revision ${revision}`}</a> ({actorText(actor)}
      {reviewer ? `, approved by ${actorText(reviewer)}` : ''}, <Time at={at} />)
    </>
  );
}

function Lines({
  title,
  isGrave,
  children,
}: {
  title: string;
  isGrave?: boolean;
  children: readonly ComponentChildren[];
}) {
  if (children.length === 0) return null;
  return (
    <section class={`stack-small ${isGrave ? 'notice danger lines' : ''}`}>
      <h2>
        {title} ({children.length})
      </h2>
      <ul class="stack-small">{children}</ul>
    </section>
  );
}
