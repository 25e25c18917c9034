import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { type AnyOperation, isPending } from '../core/base/operation.ts';
import type { StoredRecord } from '../core/base/record.ts';
import { SCOPES } from '../core/base/scope.ts';
import { mayCall } from '../core/call/access.ts';
import { isSpent } from '../core/model/token-record.ts';
import { buildJobs } from '../plane/periodic.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import { type Draw, drawFrom } from './authority-draw.ts';
import { inputFor, type Pools } from './authority-input.ts';
import { type Credential, PEOPLE, type Principal, type Scene } from './authority-scene.ts';

/** One call that was made, or the clock that moved. */
export interface Done {
  readonly who: Principal | undefined;
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** A problem code, `ok`, `pending`, or `time` for the clock. */
  readonly outcome: string;
  readonly answer: unknown;
}

type Operation = AnyOperation<never>;
const all = operations as unknown as readonly Operation[];

/** How often each of these acts, of 100 steps. */
const SHARES = [
  ['agent', 52],
  ['person', 20],
  ['device', 6],
  ['enrolment', 13],
  ['api', 3],
  ['clock', 6],
] as const;
type Actor = (typeof SHARES)[number][0];
const MINUTE_MS = 60_000;
const PAUSES_MS = [
  1_000,
  20_000,
  31_000,
  40_000,
  61_000,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  70 * MINUTE_MS,
  25 * 60 * MINUTE_MS,
];

/** Makes the call that a seed means in a scene; undefined where nobody is there to make it. */
export async function makeStep(scene: Scene, seed: number, beforeJobs: () => Promise<void>): Promise<Done | undefined> {
  const draw = drawFrom(seed);
  const actor = actorOf(draw);
  if (actor === 'clock') return moveClock(scene, draw, beforeJobs);
  if (scene.held.length > 0 && draw.chance(0.08)) return repeatHeld(scene, draw);
  const who = await principal(scene, actor, draw);
  if (!who) return actor === 'agent' ? makeRoot(scene, seed, `root-${draw.int(100)}`) : undefined;
  const caller = await scene.kit.gate.authenticate(who.bearer, '127.0.0.1').catch(() => undefined);
  const operation = await operationFor(scene, who, caller, draw);
  const input = inputFor(operation, await poolsFor(scene, who, operation, draw), draw);
  return callAs(scene, who, operation, input, draw);
}

/** What a person gives the first root agent. */
const REACHES = [
  [],
  [{}],
  [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
  [{ to: [{ peerSelector: { matchExpressions: [{ key: 'role', operator: 'In', values: ['db', 'web'] }] } }] }],
  [{ to: [{ ipBlock: { cidr: '10.96.0.0/30' } }], ports: [{ protocol: 'TCP', port: 1, endPort: 6000 }] }],
];

/** A signed-in person makes the agent whose line the sequence is about. */
export async function makeRoot(scene: Scene, seed: number, name = 'root'): Promise<Done> {
  const draw = drawFrom(seed);
  const who = await scene.personNamed('ada');
  const operation = all.find(({ name }) => name === 'create_agent');
  if (!who || !operation) return moveClock(scene, draw, async () => {});
  const more = ROOT_SCOPES.filter(() => draw.chance(0.75));
  const scopes = ['network:read', 'agents:delegate', ...more];
  const input = { name, scopes, reach: draw.pick(REACHES), ttl: draw.pick(['2h', '24h', '72h']) };
  return callAs(scene, who, operation, input, draw);
}

/** What people set before the agents come. */
export async function setUp(scene: Scene, seed: number): Promise<Done[]> {
  const draw = drawFrom(seed);
  const who = await scene.personNamed('ada');
  const operation = all.find(({ name }) => name === 'update_workspace');
  if (!who || !operation) return [];
  const settings = {
    requirePeerApproval: draw.chance(0.4),
    requireApproval: draw.chance(0.2),
  };
  // Weaker ones, for which there are too many who approve to set them alone.
  await scene.kit.haveSettings(scene.workspace, {
    ...(draw.chance(0.3) && { selfApproval: draw.chance(0.5) }),
    ...(draw.chance(0.3) && { autoApprove: { maxRisk: draw.pick(['low', 'medium', 'critical']) } }),
  });
  return [await makeRoot(scene, seed), await callAs(scene, who, operation, { settings }, draw)];
}

const ROOT_SCOPES = SCOPES.filter(
  (scope) =>
    !['network:read', 'agents:delegate', 'workflows:approve', 'users:write', 'workspaces:write'].includes(scope),
);

/** What an agent thinks of: everything, or what its own line made. */
async function poolsFor(scene: Scene, who: Principal, { name: asked }: Operation, draw: Draw): Promise<Pools> {
  const caller = await scene.kit.gate.authenticate(who.bearer, '').catch(() => undefined);
  const pools = await scene.pools(caller);
  const out = [...(await scene.state()).peers.values()].flatMap(({ name, status }) =>
    status.phase === 'ready' ? [] : [name],
  );
  if (asked === 'approve_peer' && out.length > 0) return { ...pools, names: { ...pools.names, peer: out } };
  if (who.kind !== 'agt' || draw.chance(0.5)) return pools;
  const { peers, policies } = await scene.state();
  const { ledger } = scene;
  const own = (records: ReadonlyMap<string, StoredRecord>, made: ReadonlyMap<string, string>) =>
    [...records.values()].flatMap(({ uid, name }) => (made.has(uid) ? [name] : []));
  const [peer, policy] = [own(peers, ledger.peers), own(policies, ledger.policies)];
  const names = { ...pools.names, ...(peer.length > 0 && { peer }), ...(policy.length > 0 && { policy }) };
  return { ...pools, names };
}

function actorOf(draw: Draw): Actor {
  let rest = draw.int(100);
  for (const [actor, share] of SHARES) {
    if (rest < share) return actor;
    rest -= share;
  }
  return 'agent';
}

async function principal(scene: Scene, actor: Exclude<Actor, 'clock'>, draw: Draw): Promise<Principal | undefined> {
  if (actor === 'person') return scene.personNamed(draw.pick(PEOPLE));
  const kinds: readonly string[] = { agent: ['agt'], device: ['dev'], enrolment: ['dlg', 'join'], api: ['api'] }[actor];
  const held = scene.credentials.filter(({ kind }) => kinds.includes(kind));
  const good = draw.chance(0.95) ? await working(scene, held) : held;
  if (good.length === 0) return undefined;
  // What was got last is used most, every sub-agent enrols sooner or later, and devices of agents call more than others.
  const waiting = good.filter(({ kind, peer }) => kind === 'dlg' || scene.ledger.peers.has(peer ?? ''));
  const first = waiting.length > 0 && draw.chance(0.8) ? waiting : good;
  const credential = draw.pick(draw.chance(0.5) ? first.slice(-3) : first, ({ key }) => key);
  const agent = credential.agent ?? scene.ledger.peers.get(credential.peer ?? '');
  return { ...credential, agent, name: credential.key };
}

async function working({ kit, records }: Scene, held: readonly Credential[]): Promise<readonly Credential[]> {
  const tokens = new Map((await records('Token')).map((record) => [record.uid, record.spec]));
  const good: Credential[] = [];
  for (const one of held) {
    const token = tokens.get(one.tokenId);
    const isOpen = token && !isSpent(token);
    if (isOpen && (await kit.gate.authenticate(one.bearer, '').catch(() => undefined))) good.push(one);
  }
  return good;
}

/** What they do most, so that lines grow, overlap and end. */
const FAVOURITES: Readonly<Record<string, readonly string[]>> = {
  agt: [
    'delegate_agent',
    'create_policy',
    'update_policy',
    'update_peer',
    'generate_join_token',
    'apply_network_change',
    'approve_peer',
  ],
  person: [
    'revoke_agent',
    'update_peer',
    'create_policy',
    'update_workspace',
    'adopt_peer',
    'revoke_peer',
    'delete_peer',
    'generate_join_token',
  ],
  api: ['update_peer', 'create_policy', 'generate_join_token', 'create_agent'],
  dev: ['leave_network', 'rename_own_device', 'rotate_device_key'],
};

/** Mostly one that the caller may use; what it may not is tried too. */
async function operationFor(scene: Scene, who: Principal, caller: Caller | undefined, draw: Draw): Promise<Operation> {
  const open = caller ? all.filter((operation) => mayCall(operation, caller, scene.workspace)) : [];
  if (open.length === 0 || draw.chance(0.05)) return draw.pick(all, ({ name }) => name);
  if (who.kind === 'person' && draw.chance(0.4)) return draw.pick(await reviews(scene, open), ({ name }) => name);
  const ending = open.find(({ name }) => name === 'revoke_agent');
  if (who.kind === 'person' && ending && draw.chance(0.08)) return ending;
  // A name and labels at once: what is shown of a peer that is called otherwise then.
  const relabelling = open.find(({ name }) => name === 'update_peer');
  if (who.kind === 'agt' && relabelling && draw.chance(0.15)) return relabelling;
  const favourites = open.filter(({ name }) => FAVOURITES[who.kind]?.includes(name));
  if (favourites.length > 0 && draw.chance(0.35)) return draw.pick(favourites, ({ name }) => name);
  const writing = open.filter(({ effects, access }) => !effects.readOnlyHint && access !== 'public');
  return draw.pick(draw.chance(0.85) && writing.length > 0 ? writing : open, ({ name }) => name);
}

/** What a person has to look at just now. */
async function reviews(scene: Scene, open: readonly Operation[]): Promise<readonly Operation[]> {
  const waiting = (await scene.records('Workflow')).some(({ status }) => status.state === 'pending');
  const pending = [...(await scene.state()).peers.values()].some(({ status }) => status.phase !== 'ready');
  const asked = open.filter(
    ({ name }) => (waiting && name === 'approve_workflow') || (pending && name === 'approve_peer'),
  );
  return asked.length > 0 ? asked : open;
}

export async function callAs(
  scene: Scene,
  who: Principal,
  operation: Operation,
  input: Record<string, unknown>,
  draw: Draw,
): Promise<Done> {
  const face = MCP_TOOLS.includes(operation.name) && draw.chance(0.3) ? ('mcp' as const) : ('rest' as const);
  const workspace = draw.chance(0.97) ? scene.workspace : 'spare';
  const needsName = operation.workspace === 'scoped' && who.kind === 'person';
  const raw = operation.access === 'enrolment' ? { ...input, token: who.bearer } : input;
  const done = { who, operation: operation.name, input: raw };
  try {
    const options = { bearer: who.bearer, face, ...(needsName && { workspace }) };
    const answer = await scene.kit.call(operation, raw, options);
    if (isPending(answer)) scene.held.push({ who, operation: operation.name, input });
    await scene.learn(answer, who, `${who.name} ${operation.name} ${draw.int(1_000)}`);
    return { ...done, outcome: isPending(answer) ? 'pending' : 'ok', answer };
  } catch (error) {
    if (!(error instanceof MeshError) || error.code === 'internal') {
      throw new Error(`${operation.name} answers 500: ${error instanceof Error ? error.stack : String(error)}`, {
        cause: error,
      });
    }
    return { ...done, outcome: error.code, answer: error.message };
  }
}

async function repeatHeld(scene: Scene, draw: Draw): Promise<Done | undefined> {
  const held = draw.pick(scene.held, ({ operation, who }) => `${operation} ${who.name}`);
  const operation = all.find(({ name }) => name === held.operation);
  const who = held.who.kind === 'person' ? await scene.personNamed(held.who.name) : held.who;
  return operation && who && callAs(scene, who, operation, held.input, drawFrom(0));
}

async function moveClock(scene: Scene, draw: Draw, beforeJobs: () => Promise<void>): Promise<Done> {
  const { kit } = scene;
  const pause = draw.pick(PAUSES_MS, String);
  kit.clock.time += pause;
  await beforeJobs();
  for (const job of buildJobs(kit.services, kit.gate)) await job.run();
  return { who: undefined, operation: 'clock', input: { pause }, outcome: 'time', answer: undefined };
}

/** A line of the story of a sequence. */
export function lineOf({ who, operation, input, outcome, answer }: Done): string {
  const said = outcome === 'ok' || outcome === 'time' ? '' : ` ${JSON.stringify(answer)}`;
  return `${who ? `${who.kind} ${who.name}` : ''} ${operation} ${JSON.stringify(input)} -> ${outcome}${said}`;
}

/** Calls an operation as somebody who may, with an input made for it. */
export async function tryOperation(scene: Scene, operation: Operation, seed: number): Promise<Done | undefined> {
  const draw = drawFrom(seed);
  const people = await Promise.all(['ada', 'admin'].map((name) => scene.personNamed(name)));
  const credentials = scene.credentials.map((one): Principal => ({ ...one, name: one.key }));
  const able: Principal[] = [];
  for (const who of [...people.flatMap((person) => person ?? []), ...credentials]) {
    const caller = await scene.kit.gate.authenticate(who.bearer, '').catch(() => undefined);
    if (caller && mayCall(operation, caller, scene.workspace)) able.push(who);
  }
  if (able.length === 0) return undefined;
  const who = draw.pick(able, ({ name }) => name);
  return callAs(scene, who, operation, inputFor(operation, await poolsFor(scene, who, operation, draw), draw), draw);
}
