import { FRAMEWORK_NAMES } from '../../api/frameworks.ts';
import type { components } from '../../api/schema.d.ts';
import type { Overview, Workflow } from '../../api/types.ts';
import { waitingCount } from '../../api/waiting.ts';
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
  const note =
    reported === 0 ? 'No device has reported a path yet.' : `${direct} % of paths direct, ${100 - direct} % relayed`;
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
  const note = `${requested.length} ${requested.length === 1 ? 'request' : 'requests'} in 7 days`;
  return (
    <Tile label="Waiting for approval" href={linkTo('review')} figure={String(waitingCount.value)} note={note}>
      <Week instants={requested} />
    </Tile>
  );
}

type Count = components['schemas']['CountChangesResponse'];
type Listed = components['schemas']['ListChangesResponse'];

const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  MeshPeer: ['peer', 'peers'],
  MeshPolicy: ['policy', 'policies'],
  MeshNetwork: ['network', 'networks'],
  AgentIdentity: ['agent', 'agents'],
  PolicyAssertion: ['assertion', 'assertions'],
  Token: ['token', 'tokens'],
  Member: ['member', 'members'],
  Workspace: ['setting', 'settings'],
  Webhook: ['webhook', 'webhooks'],
};

export function ChangesTile({ today, week }: { today: Count; week: Listed | undefined }) {
  const { count, is_complete: isComplete, kinds } = today;
  const parts = Object.entries(kinds).map(([kind, changed = 0]) => {
    const [one, many] = NOUNS[kind] ?? [kind, kind];
    return `${changed} ${changed === 1 ? one : many}`;
  });
  return (
    <Tile
      label="Changes in 24 hours"
      href={linkTo('time', [], { from: ago(DAY_MS), to: ago(0) })}
      figure={`${isComplete ? '' : '≥ '}${count}`}
      note={parts.length === 0 ? 'Nothing changed.' : parts.join(', ')}
    >
      {week && <Week instants={week.instants} />}
    </Tile>
  );
}

/** Each of the last seven days, today at the right. */
function Week({ instants }: { instants: readonly string[] }) {
  const now = Date.now();
  return <Bars counts={countsIn(instants, now - WEEK_MS, now, DAYS)} chosen={DAYS - 1} />;
}

type Assessment = components['schemas']['Assessment'];

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
  const recent = (scores ?? []).slice(0, 12).toReversed();
  return (
    <Tile
      label={`Compliance: ${FRAMEWORK_NAMES[framework]}`}
      href={linkTo('compliance')}
      figure={`${newest.score} of 100`}
      note={
        <>
          assessed <Time at={newest.generated_at} />
        </>
      }
    >
      <Bars counts={recent.map(({ score }) => score)} chosen={recent.length - 1} />
    </Tile>
  );
}
