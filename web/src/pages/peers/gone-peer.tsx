import { answer, api } from '../../api/client.ts';
import { edition } from '../../api/edition.ts';
import { useLoaded } from '../../api/load.ts';
import type { Problem } from '../../api/problem.ts';
import { holds } from '../../api/workspace.ts';
import { actorText } from '../../design/actor-words.ts';
import { Chip } from '../../design/chip.tsx';
import { linkTo, queryPart } from '../../route/route.ts';
import { ago, DAY_MS } from '../../time/moment.ts';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { PeerHistory } from './peer-history.tsx';

/** As far as the list of changes goes back for who does not read the audit log. */
const SPAN_MS = 365 * DAY_MS;

interface End {
  readonly at: string;
  /** Null where time ended it. */
  readonly actor: string | null;
  /** Undefined where it was deleted. */
  readonly newName: string | undefined;
}

interface GonePeerProps {
  readonly name: string;
  /** What the control plane says of the name, for who may not read more or where nothing is known. */
  readonly problem: Problem;
  readonly closeTo: string;
}

/** In place of a peer that is not there: when it was deleted or renamed and by whom, and its history. */
export function GonePeer({ name, problem, closeTo }: GonePeerProps) {
  const loaded = useLoaded(() => endOf(name, queryPart('at')));
  return (
    <ReadResult of={loaded.value}>
      {(end) => (end ? <Gone name={name} end={end} closeTo={closeTo} /> : <ProblemNotice problem={problem} />)}
    </ReadResult>
  );
}

function Gone({ name, end: { at, actor, newName }, closeTo }: { name: string; end: End; closeTo: string }) {
  return (
    <article class="panel stack" aria-label={name}>
      <div class="row">
        <h2 class="break">{name}</h2>
        <Chip>{newName === undefined ? 'deleted' : 'renamed'}</Chip>
        <a class="push" href={linkTo(closeTo)}>
          Close
        </a>
      </div>
      <p role="status">
        {newName === undefined ? 'Deleted' : 'Renamed'} <Time at={at} />{' '}
        {newName !== undefined && (
          <>
            to <a href={linkTo('peers', [newName])}>{newName}</a>{' '}
          </>
        )}
        {actor === null ? 'at its expiry' : `by ${actorText(actor)}`}.
      </p>
      {hasHistory() && <PeerHistory name={name} agents={undefined} />}
      {holds('audit:read') && (
        <p>
          <a href={linkTo('audit', [], { kind: 'MeshPeer', name })}>View in Audit</a>
        </p>
      )}
    </article>
  );
}

const hasHistory = () => holds('snapshots:read') && edition.value === 'pro';

/** How the last peer of a name went, up to an instant; undefined where nothing is known of one. */
async function endOf(name: string, at: string | null): Promise<End | undefined> {
  const until = at === null ? {} : { to: at };
  const about = { ...until, kind: 'MeshPeer', name, limit: 1 } as const;
  if (holds('audit:read')) {
    const { items } = await answer(api.GET('/api/v1/audit', { params: { query: about } }));
    const [last] = items;
    return last && endIn(name, { ...last, resources: last.changes ?? [] });
  }
  if (!hasHistory()) return undefined;
  const query = { ...about, from: ago(SPAN_MS) };
  const { items } = await answer(api.GET('/api/v1/changes', { params: { query } }));
  return items[0] && endIn(name, items[0]);
}

interface LastChange {
  readonly at: string;
  readonly actor: string | null;
  readonly resources: readonly { readonly type: string; readonly kind: string; readonly name: string }[];
}

/** A peer that gets another name is deleted and made again in one change. */
function endIn(name: string, { at, actor, resources }: LastChange): End | undefined {
  const peers = resources.filter(({ kind }) => kind === 'MeshPeer');
  if (!peers.some((one) => one.name === name && (one.type === 'deleted' || one.type === 'ended'))) return undefined;
  return { at, actor, newName: peers.find(({ type }) => type === 'created')?.name };
}
