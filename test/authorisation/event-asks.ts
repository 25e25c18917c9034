import type { Problem } from '../../core/base/errors.ts';
import { KINDS, type Kind } from '../../core/base/record.ts';
import type { Scope } from '../../core/base/scope.ts';
import { reading } from '../kits/http/read-events.ts';
import type { Operation } from '../kits/http/sample-requests.ts';
import type { Ask, Asker, History } from './ask.ts';
import { type Defined, expectedOf } from './expected.ts';
import type { Verdict } from './standing.ts';
import { verdictOf } from './verdict.ts';

const EVENTS: Defined & Pick<Operation, 'http'> = {
  name: 'watch_events',
  access: 'network:read',
  workspace: 'scoped',
  problems: [],
  http: { method: 'get', path: '/api/v1/events' },
};

/** The scope that a change of a kind asks for. Others, which keep no history, are shown to nobody. */
const SCOPE_OF_KIND: Partial<Record<Kind, Scope>> = {
  MeshPeer: 'network:read',
  MeshPolicy: 'network:read',
  MeshNetwork: 'network:read',
  AgentIdentity: 'network:read',
  Presence: 'network:read',
  Workflow: 'network:read',
  PolicyAssertion: 'network:read',
  ComplianceDrift: 'compliance:assess',
  ReviewDue: 'compliance:assess',
};

interface Heard {
  readonly kinds: ReadonlySet<string>;
  readonly actors: boolean;
}

/** Waited for by nobody but a reader who was let in and is shown nothing. */
const PATIENCE_MS = 5_000;

const heard = new WeakMap<Asker, Promise<Heard | Verdict>>();

/** What a reader is shown of all that happens in the workspace; the refusal where the stream is refused. */
function hear(asker: Asker): Promise<Heard | Verdict> {
  const known = heard.get(asker) ?? readBoth(asker);
  heard.set(asker, known);
  return known;
}

/** As it happens, and afterwards. */
async function readBoth({ send, bearer, workspace, events, history }: Asker): Promise<Heard | Verdict> {
  const headers = { 'x-workspace-id': workspace, 'last-event-id': '0' };
  const live = await read(events, history);
  const later = await read(await send(EVENTS.http.path, bearer, { headers }), history);
  if (typeof live === 'string' || typeof later === 'string') {
    if (live !== later) throw new Error('A stream was let in once and refused once.');
    return live;
  }
  return { kinds: live.kinds.union(later.kinds), actors: live.actors || later.actors };
}

async function read(response: Response, { end, foreign }: History): Promise<Heard | Verdict> {
  if (!response.ok) return verdictOf(EVENTS, (await response.json()) as Problem);
  const events = reading(response);
  const kinds = new Set<string>();
  let actors = false;
  const patience = AbortSignal.timeout(PATIENCE_MS);
  patience.addEventListener('abort', events.stop);
  for (let event = await events.next(); event && event.event !== 'end'; event = await events.next()) {
    for (const { kind, id } of event.data.changes) {
      kinds.add(kind);
      if (foreign.has(id)) throw new Error(`A reader heard of ${kind} ${id} of another workspace.`);
    }
    actors ||= event.data.actor !== undefined;
    if (Number(event.id) >= end) break;
  }
  patience.removeEventListener('abort', events.stop);
  await events.stop();
  return { kinds, actors };
}

function ask(what: string, needs: Scope | 'nobody', isShown: (heard: Heard) => boolean): Ask {
  return {
    what: `event ${what}`,
    needs,
    expected(standing) {
      const opened = expectedOf(EVENTS, standing);
      if (opened !== 'yes' || 'refused' in standing) return opened;
      return needs !== 'nobody' && standing.scopes.has(needs) ? 'yes' : 'no';
    },
    async observed(asker) {
      const found = await hear(asker);
      if (typeof found === 'string') return [found];
      return [isShown(found) ? 'yes' : 'no'];
    },
  };
}

/** The stream of events, what it shows of each kind, and who it says did it. */
export const eventAsks: readonly Ask[] = [
  {
    what: 'stream /api/v1/events',
    needs: EVENTS.access,
    expected: (standing) => expectedOf(EVENTS, standing),
    async observed(asker) {
      const found = await hear(asker);
      return [typeof found === 'string' ? found : 'yes'];
    },
  },
  ...(Object.keys(KINDS) as Kind[]).map((kind) =>
    ask(kind, SCOPE_OF_KIND[kind] ?? 'nobody', ({ kinds }) => kinds.has(kind)),
  ),
  ask('actor', 'audit:read', ({ actors }) => actors),
];
