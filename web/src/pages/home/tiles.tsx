import { FRAMEWORK_NAMES } from '../../api/frameworks.ts';
import type { components } from '../../api/schema.d.ts';
import type { Overview, Workflow } from '../../api/types.ts';
import { waiting, waitingCount } from '../../api/waiting.ts';
import { Bars, countsIn } from '../../design/bars.tsx';
import { Tile } from '../../design/tile.tsx';
import { linkTo } from '../../route/route.ts';
import { ago, DAY_MS } from '../../time/moment.ts';
import { Time } from '../../ui/time.tsx';

const DAYS = 7;
const WEEK_MS = DAYS * DAY_MS;

export function PeersTile({ overview: { peers, paths } }: { overview: Overview }) {
  const reported = paths.direct + paths.relayed;
  const direct = Math.round((100 * paths.direct) / reported);
  const unreported = peers.total === 0 ? 'No devices yet.' : 'No device has reported a path yet.';
  const pathsNote = reported === 0 ? unreported : `${direct} % of paths direct, ${100 - direct} % relayed`;
  const { pending } = peers;
  const note =
    pending === 0 ? pathsNote : `${pending} more ${pending === 1 ? 'awaits' : 'await'} approval. ${pathsNote}`;
  return (
    <Tile label="Peers online" href={linkTo('peers')} figure={`${peers.online} of ${peers.ready}`} note={note}>
      {reported > 0 && (
        <span class="share" aria-hidden="true">
          <span style={{ width: `${direct}%` }} />
        </span>
      )}
    </Tile>
  );
}

export function WaitingTile({ workflows }: { workflows: readonly Workflow[] }) {
  const week = Date.now() - WEEK_MS;
  const requested = workflows.map(({ requestedAt }) => requestedAt).filter((at) => Date.parse(at) >= week);
  const { workflows: changes = [], peers = [] } = waiting.value.value ?? {};
  const parts = [countOf(changes.length, 'change', 'changes'), countOf(peers.length, 'device', 'devices')];
  const note = parts.filter((part) => part !== '').join(', ') || 'Nothing is waiting.';
  return (
    <Tile label="Waiting for approval" href={linkTo('review')} figure={String(waitingCount.value)} note={note}>
      <Week instants={requested} of="Requests" />
    </Tile>
  );
}

function countOf(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : many}`;
}

type Count = components['schemas']['CountChangesResponse'];
type Listed = components['schemas']['ListChangesResponse'];

/** As the Time page lists them. */
const LISTED_KINDS = 'peers, policies, networks and agents';

const NOUNS: Readonly<Record<string, string>> = {
  MeshPeer: 'peers',
  MeshPolicy: 'policies',
  MeshNetwork: 'networks',
  AgentIdentity: 'agents',
  PolicyAssertion: 'assertions',
  Token: 'tokens',
  Member: 'members',
  Workspace: 'settings',
  Webhook: 'webhooks',
};

interface ChangesTileProps {
  /** What the Time page lists, or every change for who may not read that page. */
  readonly today: Listed | Count;
  readonly week: Listed | undefined;
}

export function ChangesTile({ today, week }: ChangesTileProps) {
  const [count, isComplete] = 'total' in today ? [today.total, true] : [today.count, today.is_complete];
  return (
    <Tile
      label="Changes in 24 hours"
      href={linkTo('time', [], { from: ago(DAY_MS), to: ago(0) })}
      figure={`${isComplete ? '' : '≥ '}${count}`}
      note={count === 0 ? 'Nothing changed.' : `of ${'total' in today ? LISTED_KINDS : countedKinds(today)}`}
    >
      {week && <Week instants={week.instants} of={`Changes of ${LISTED_KINDS}`} />}
    </Tile>
  );
}

/** One change can be of several resources: their numbers would add up to another count. */
function countedKinds({ kinds }: Count): string {
  return listed(Object.keys(kinds).map((kind) => NOUNS[kind] ?? kind));
}

/** As `peers, policies and agents`. */
function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' and ');
}

/** Each of the last seven days, today at the right. */
function Week({ instants, of }: { instants: readonly string[]; of: string }) {
  const now = Date.now();
  const counts = countsIn(instants, now - WEEK_MS, now, DAYS);
  return <Bars counts={counts} chosen={DAYS - 1} title={`${of} on each of the last ${DAYS} days`} />;
}

type Assessment = components['schemas']['Assessment'];

/** Assessments that are drawn. */
const TREND = 12;
const BEST = 100;

/** The framework whose newest score is worst, with its scores before. */
export function ComplianceTile({ assessments }: { assessments: readonly Assessment[] }) {
  const byFramework = [...Map.groupBy(assessments, ({ canonical_framework: name }) => name)];
  const [worst] = byFramework.sort(([, [a]], [, [b]]) => (a?.score ?? 0) - (b?.score ?? 0));
  const [framework, scores] = worst ?? [];
  const [newest] = scores ?? [];
  if (!framework || !newest)
    return (
      <Tile label="Compliance" href={linkTo('compliance')} figure="–" note="Not assessed yet. Run an assessment." />
    );
  const recent = (scores ?? []).slice(0, TREND).toReversed();
  return (
    <Tile
      label={`Compliance: ${FRAMEWORK_NAMES[framework]}`}
      href={linkTo('compliance')}
      figure={`${newest.score} of ${BEST}`}
      note={
        <>
          assessed <Time at={newest.generated_at} />
        </>
      }
    >
      <Bars
        counts={recent.map(({ score }) => score)}
        chosen={recent.length - 1}
        title="Scores of the last assessments"
        full={BEST}
        room={TREND}
      />
    </Tile>
  );
}
