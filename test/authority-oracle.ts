import type { Commit } from '../core/base/ports.ts';
import { draftOf, type StoredRecord } from '../core/base/record.ts';
import { ROLE_SCOPES } from '../core/base/scope.ts';
import { accountById } from '../core/identity/accounts.ts';
import { roleIn, roleOf } from '../core/identity/members.ts';
import { lookUpById } from '../core/model/find.ts';
import type { AgentRecord, PeerRecord } from '../core/model/resources.ts';
import type { TokenSpec } from '../core/model/token-record.ts';
import { sameValue } from '../core/model/value.ts';
import type { WorkflowRecord } from '../core/model/workflow-records.ts';
import { operations } from '../tools/index.ts';
import {
  grantedReach,
  isBelow,
  isEnded,
  lineOf,
  OUTSIDE,
  pointsText,
  shownReach,
  type View,
} from './authority-reach.ts';
import type { GrantedAgent, Ledger, Principal, Scene } from './authority-scene.ts';
import type { Done } from './authority-steps.ts';
import { ofKind } from './kits/records/records.ts';

/** Nobody but a person gives these, and no agent passes them on. */
const NEVER_PASSED_ON = ['tokens:write', 'peers:approve', 'intents:override', 'members:write'];
/** Only people write these, alone or by approving. */
const WRITTEN_BY_PEOPLE = ['Member', 'Account', 'Workspace', 'PolicyAssertion', 'MeshNetwork', 'Session', 'Webhook'];

/** What these write is nobody's who called. */
const PUBLIC = new Set(operations.flatMap(({ access, name }) => (access === 'public' ? [name] : [])));

/** What a step must not have done, as sentences. */
export type Findings = string[];

/** The agent for whom a call was made without any person; undefined for people, their tokens and their devices. */
export function actingAgent(ledger: Ledger, who: Principal | undefined): GrantedAgent | undefined {
  if (who === undefined || who.kind === 'person') return undefined;
  return ledger.agents.get(who.agent ?? '');
}

/** Nobody in a line reaches what no person was shown, nor more than the agent above it. */
export function reachFindings(ledger: Ledger, view: View): Findings {
  const found: Findings = [];
  for (const [uid, owner] of ledger.peers) {
    const agent = ledger.agents.get(owner);
    const peer = view.peers.get(uid);
    if (!agent || !peer) continue;
    const parent = agent.parent === undefined ? undefined : ledger.agents.get(agent.parent);
    const above = parent && peerOf(ledger, view, parent);
    // An agent may always talk to those that delegated to it.
    const elders = lineOf(ledger, agent).map((member) => peerOf(ledger, view, member));
    for (const dst of [...view.peers.keys(), OUTSIDE.name]) {
      if (dst === uid || elders.includes(dst)) continue;
      const open = view.open(uid, dst);
      if (open === 0) continue;
      const target = view.peers.get(dst);
      const beyond = open & ~shownReach(ledger, agent, target);
      if (beyond)
        found.push(
          `${peer.name} reaches ${target?.name ?? dst} on ${pointsText(beyond)}, which its root was not granted`,
        );
      if (!parent || parent.parent === undefined) continue;
      const bound = above === undefined ? 0 : view.open(above, dst);
      if (open & ~bound)
        found.push(
          `${peer.name} reaches ${target?.name ?? dst} on ${pointsText(open & ~bound)}, which ${parent.name} above it may not`,
        );
    }
  }
  return found;
}

/** What an agent may reach and open at a peer just now: what it was granted, less what the peer above it may not open. */
function heldReach(ledger: Ledger, view: View, agent: GrantedAgent, dst: string): number {
  const granted = grantedReach(ledger, agent, view.peers.get(dst));
  const parent = agent.parent === undefined ? undefined : ledger.agents.get(agent.parent);
  if (!parent || parent.parent === undefined) return granted;
  const above = peerOf(ledger, view, parent);
  if (above === undefined) return 0;
  return above === dst ? granted : granted & view.open(above, dst);
}

/** Uid of the peer that an agent itself is. */
function peerOf(ledger: Ledger, { peers }: View, { uid, name }: GrantedAgent): string | undefined {
  return [...peers.values()].find(({ uid: peer, spec }) => ledger.peers.get(peer) === uid && spec.agentRef === name)
    ?.uid;
}

/** What an agent's own step opens lies within what it was granted; a delegated one closes nothing else either. */
export function openingFindings(ledger: Ledger, agent: GrantedAgent, before: View, after: View): Findings {
  const found: Findings = [];
  const stayed = [...after.peers.keys()].filter((uid) => isReady(before, uid) && isReady(after, uid));
  for (const src of [...stayed, OUTSIDE.name]) {
    for (const dst of stayed) {
      if (src === dst) continue;
      const [was, is] = [before.open(src, dst), after.open(src, dst)];
      if (was === is) continue;
      const granted = heldReach(ledger, before, agent, dst);
      const opened = is & ~was & ~granted;
      const isOwn =
        isBelow(ledger, ledger.peers.get(src), agent.uid) || isBelow(ledger, ledger.peers.get(dst), agent.uid);
      const closed = agent.parent === undefined || isOwn ? 0 : was & ~is & ~granted;
      const pair = `${before.peers.get(src)?.name ?? src} to ${before.peers.get(dst)?.name}`;
      if (opened)
        found.push(`${agent.name} opened ${pair} on ${pointsText(opened)} by itself, beyond what it was granted`);
      if (closed)
        found.push(`${agent.name} closed ${pair} on ${pointsText(closed)} by itself, beyond what it was granted`);
    }
  }
  return found;
}

function isReady({ peers }: View, uid: string): boolean {
  return peers.get(uid)?.status.phase === 'ready';
}

/** No agent of a line gains by a step of its line. */
export function growthFindings(ledger: Ledger, actor: GrantedAgent, before: View, after: View): Findings {
  const root = lineOf(ledger, actor).at(-1)?.uid ?? actor.uid;
  const changed = [...after.peers.values()].filter((next) => {
    const old = before.peers.get(next.uid);
    return (
      old &&
      !(
        sameValue(old.labels, next.labels) &&
        old.status.address === next.status.address &&
        old.spec.network === next.spec.network
      )
    );
  });
  return [...ledger.agents.values()]
    .filter((agent) => isBelow(ledger, agent.uid, root) && !isEnded(ledger, agent, after.state, after.now))
    .flatMap((agent) =>
      changed.flatMap((next) => {
        const old = before.peers.get(next.uid);
        // Who was let in has an address for the first time.
        if (old?.status.phase !== 'ready') return [];
        const grown = grantedReach(ledger, agent, next) & ~grantedReach(ledger, agent, old);
        return grown
          ? [`${actor.name} added ${next.name} on ${pointsText(grown)} to what ${agent.name} may reach`]
          : [];
      }),
    );
}

/** What ended takes everything with it that it made. */
export async function outlivingFindings(scene: Scene, view: View, afterJobs: boolean): Promise<Findings> {
  const { ledger, kit } = scene;
  const { state, now } = view;
  const ended = [...ledger.agents.values()].filter((agent) => isEnded(ledger, agent, state, now));
  if (ended.length === 0) return [];
  const ids = new Map(ended.map(({ uid, name }) => [uid, name]));
  const found: Findings = [];
  const tokens = new Map((await scene.records('Token')).map((record) => [record.uid, record]));
  for (const { kind, agent, tokenId, bearer, key } of scene.credentials) {
    const owner = ids.get(agent ?? '');
    if (owner === undefined) continue;
    const { expiresAt = Number.POSITIVE_INFINITY } = (tokens.get(tokenId)?.spec ?? { expiresAt: 0 }) as {
      expiresAt?: number;
    };
    if (expiresAt > now) found.push(`the token ${key} of ${owner}, which has ended, is good until ${expiresAt}`);
    if (kind !== 'agt') continue;
    const works = await kit.gate.authenticate(bearer, '').then(
      () => true,
      () => false,
    );
    if (works) found.push(`the token ${key} of ${owner}, which has ended, still works`);
  }
  for (const [uid, agent] of ledger.peers) {
    const peer = view.peers.get(uid);
    if (!peer || !ids.has(agent)) continue;
    const others = [...view.peers.keys(), OUTSIDE.name].filter((other) => other !== uid);
    const reaches = others.some((other) => view.open(uid, other) !== 0 || view.open(other, uid) !== 0);
    if (reaches || afterJobs) found.push(`the peer ${peer.name} of ${ids.get(agent)}, which has ended, is still there`);
  }
  if (!afterJobs) return found;
  for (const [uid, agent] of [...ledger.policies, ...ledger.presets]) {
    const policy = lookUpById(state.policies, uid);
    if (policy && ids.has(agent))
      found.push(`the policy ${policy.name} of ${ids.get(agent)}, which has ended, is still there`);
  }
  for (const { name, spec, status } of await scene.records('Plan')) {
    const { requesterId, expiresAt } = spec as { requesterId: string; expiresAt: number };
    const used = (status as { workflowId?: string }).workflowId !== undefined;
    if (ids.has(requesterId) && expiresAt > now && !used)
      found.push(`the plan ${name} of ${ids.get(requesterId)}, which has ended, can be applied`);
  }
  for (const { name, spec, status } of await scene.records('Workflow')) {
    const asker = ids.get(spec.requesterId) ?? ids.get(spec.applierId);
    if (asker !== undefined && ['pending', 'approved', 'executing'].includes(status.state))
      found.push(`the workflow ${name} of ${asker}, which has ended, still waits`);
  }
  return found;
}

/** What an agent's call wrote that is somebody else's, or a person's to decide. */
export function writeFindings(scene: Scene, done: Done, commits: readonly Commit[]): Findings {
  const { ledger } = scene;
  const actor = actingAgent(ledger, done.who);
  const found: Findings = [];
  for (const { workspace, changes, approval } of commits) {
    found.push(
      ...workflowFindings(
        ledger,
        changes.map(({ record }) => record),
      ),
    );
    if (!actor || !done.who || done.who.kind === 'person' || PUBLIC.has(done.operation)) continue;
    if (approval !== undefined && ledger.approvals.has(approval.workflowId) && approval.reviewedBy.startsWith('user:'))
      continue;
    if (workspace !== scene.workspace) found.push(`${actor.name} wrote in ${workspace}`);
    const made = new Set(changes.flatMap(({ type, record }) => (type === 'created' ? [record.uid] : [])));
    const old = new Map(changes.flatMap(({ before }) => (before ? [[before.uid, before] as const] : [])));
    for (const { type, record } of changes) {
      const before = old.get(record.uid);
      if (type === 'deleted' && made.has(record.uid)) continue;
      if (type === 'updated' && isDeparture(record, before, deletedIn(changes))) continue;
      const after = type === 'deleted' ? undefined : record;
      const wrong = wrongWrite(scene, {
        actor,
        who: done.who,
        record,
        before,
        after,
        changes: changes.map((one) => one.record),
      });
      if (wrong)
        found.push(
          `${actor.name}, as ${done.who.kind}, ${type} ${record.kind} ${record.name} without a person: ${wrong}`,
        );
    }
  }
  return found;
}

interface Written {
  readonly actor: GrantedAgent;
  readonly who: Exclude<Principal, { kind: 'person' }>;
  readonly record: StoredRecord;
  readonly before: StoredRecord | undefined;
  readonly after: StoredRecord | undefined;
  /** Everything written together with it. */
  readonly changes: readonly StoredRecord[];
}

/** Tells whether an assertion only keeps the state of a peer that the same commit deletes. */
function isDeparture(record: StoredRecord, before: StoredRecord | undefined, deleted: ReadonlySet<string>): boolean {
  const [was, is] = [ofKind(before, 'PolicyAssertion'), ofKind(record, 'PolicyAssertion')];
  if (!was || !is || !sameValue({ ...draftOf(was), status: {} }, { ...draftOf(is), status: {} })) return false;
  return (['src', 'dst'] as const).every((end) => {
    const peer = is.status[end];
    return sameValue(peer, was.status[end]) || (peer !== undefined && deleted.has(peer.uid));
  });
}

const deletedIn = (changes: Commit['changes']): ReadonlySet<string> =>
  new Set(changes.flatMap(({ type, record }) => (type === 'deleted' ? [record.uid] : [])));

/** Why an agent may not have written a record; undefined where it may. */
function wrongWrite({ ledger }: Scene, written: Written): string | undefined {
  const { actor, who, record, before, after, changes } = written;
  if (WRITTEN_BY_PEOPLE.includes(record.kind)) return 'only people write that';
  const isOwn = (agent: string | undefined) => isBelow(ledger, agent, actor.uid);
  switch (record.kind) {
    case 'MeshPeer':
      return wrongPeer(ledger, written);
    case 'MeshPolicy': {
      if (!before) return undefined;
      const preset = ledger.presets.get(record.uid);
      const ends = (uid: string | undefined) =>
        changes.some(
          (one) => one.kind === 'AgentIdentity' && one.uid === uid && ['Revoked', 'Expired'].includes(one.status.phase),
        );
      if (preset !== undefined) return !after && ends(preset) ? undefined : 'it belongs to a preset';
      return isOwn(ledger.policies.get(record.uid)) ? undefined : 'it is a policy of somebody else';
    }
    case 'AgentIdentity': {
      const [was, is] = [ofKind(before, 'AgentIdentity'), ofKind(after, 'AgentIdentity')];
      if (!was) return is?.spec.parentRef?.name === actor.name ? undefined : 'it is no child of the caller';
      const known = ledger.agents.get(was.uid);
      if (!is) return known && isLiveBefore(was) ? 'it had not ended' : undefined;
      if (!sameValue(was.spec, is.spec)) return 'its grant changed';
      if (was.uid === actor.uid)
        return was.status.phase === is.status.phase || who.kind === 'dlg' ? undefined : 'it ended itself';
      return isOwn(was.uid) ? undefined : 'it is an agent of somebody else';
    }
    case 'Token': {
      const { kind } = record.spec;
      if (kind === 'api') return 'it is a token of a person';
      if (kind !== 'join') return undefined;
      const made = before === undefined ? actor.uid : undefined;
      if (made === undefined) return undefined;
      if (givesAccess(record.spec)) return 'it gives devices labels or a network';
      return actor.parent === undefined && actor.scopes.includes('tokens:write')
        ? undefined
        : 'nobody gave it tokens:write';
    }
    default:
      return undefined;
  }
}

/** Tells whether devices of a join token are known to policies by more than that they are there. */
function givesAccess({ labels, deviceLabels = [], network = 'default' }: TokenSpec): boolean {
  return Object.keys(labels).length > 0 || deviceLabels.length > 0 || network !== 'default';
}

function isLiveBefore({ status }: AgentRecord): boolean {
  return status.phase === 'Active' || status.phase === 'Pending';
}

function wrongPeer(ledger: Ledger, { actor, who, before, after, changes }: Written): string | undefined {
  const [was, is] = [ofKind(before, 'MeshPeer'), ofKind(after, 'MeshPeer')];
  if (!was) return who.kind === 'join' || who.kind === 'dlg' ? undefined : 'an agent registers nobody';
  const owner = ledger.peers.get(was.uid);
  const isOwn = who.kind === 'dev' ? who.peer === was.uid : isBelow(ledger, owner, actor.uid);
  const letsIn = is !== undefined && was.status.phase !== 'ready' && is.status.phase === 'ready';
  if (letsIn) {
    if (was.status.phase === 'revoked') return 'a person revoked it';
    if (owner !== undefined && isBelow(ledger, owner, lineOf(ledger, actor).at(-1)?.uid ?? ''))
      return 'it let in a peer of its own line';
    const given = actor.parent === undefined && actor.scopes.includes('peers:approve');
    return given && sameValue(was.labels, is.labels) && sameValue(was.spec, is.spec)
      ? undefined
      : 'nobody gave it peers:approve';
  }
  if (!isOwn) return 'it is a peer of somebody else';
  if (!is) {
    const ends = changes.some((one) => one.kind === 'AgentIdentity' && one.uid === owner && !isLiveBefore(one));
    return was.status.phase === 'revoked' && !ends ? 'a person revoked it' : undefined;
  }
  const bound = ({ spec }: PeerRecord) => [spec.agentRef, spec.delegatedBy, spec.expiresAt];
  return sameValue(bound(was), bound(is)) ? undefined : 'its bound changed';
}

/** Tells whether the workspace has a second person decide on who reaches whom just now. */
export async function needsSecondPerson(scene: Scene): Promise<boolean> {
  const workspaces = await scene.records('Workspace', 'w_system');
  return workspaces.find(({ uid }) => uid === scene.workspace)?.spec.settings.requireApproval === true;
}

/** Nothing that decides who reaches whom is written by one person, by whichever call, where a second one is needed. */
export function fourEyesFindings({ workspace }: Scene, { who, operation }: Done, commits: readonly Commit[]): Findings {
  if (who?.kind !== 'person' && who?.kind !== 'api') return [];
  return commits
    .filter((commit) => commit.workspace === workspace && commit.approval === undefined)
    .flatMap(({ changes }) => {
      const old = new Map(changes.flatMap(({ before }) => (before ? [[before.uid, before] as const] : [])));
      return changes.flatMap(({ type, record }) => {
        const before = old.get(record.uid);
        const isKept = type === 'deleted' || isDeparture(record, before, deletedIn(changes));
        const what = isKept ? undefined : decidesAlone(record, before);
        return what === undefined ? [] : [`${who.name} alone ${what} ${record.name} by ${operation}`];
      });
    });
}

function decidesAlone(record: StoredRecord, before: StoredRecord | undefined): string | undefined {
  switch (record.kind) {
    case 'MeshPolicy':
    case 'MeshNetwork':
    case 'PolicyAssertion':
      return `wrote the ${record.kind}`;
    case 'AgentIdentity':
      return before === undefined && record.spec.parentRef === undefined ? 'made the agent' : undefined;
    case 'Token':
      return before === undefined && record.spec.kind === 'join' && givesAccess(record.spec)
        ? 'gave labels or a network with the token'
        : undefined;
    case 'MeshPeer': {
      const was = ofKind(before, 'MeshPeer');
      if (!was) return undefined;
      if (was.name !== record.name) return `renamed ${was.name} to`;
      return sameValue([was.labels, was.spec.network], [record.labels, record.spec.network])
        ? undefined
        : 'gave labels or a network to';
    }
    default:
      return undefined;
  }
}

/** Whose peer was revoked does nothing until a person lets it in, whatever becomes of the peer. */
export async function barredFindings({ ledger, credentials, kit }: Scene): Promise<Findings> {
  const found: Findings = [];
  for (const { kind, agent = '', bearer, key } of credentials) {
    if (kind !== 'agt' || !ledger.barred.has(agent)) continue;
    const works = await kit.gate.authenticate(bearer, '').then(
      () => true,
      () => false,
    );
    if (works) found.push(`the token ${key} works, although the peer of its agent was revoked`);
  }
  return found;
}

/** A workflow is carried out once a person approved it, or where the workspace says that no person need. */
function workflowFindings(ledger: Ledger, records: readonly StoredRecord[]): Findings {
  return records.flatMap((record) => {
    if (record.kind !== 'Workflow') return [];
    const { spec, status, name } = record;
    if (status.state !== 'executed' || spec.autoApprove) return [];
    const approved = ledger.approvals.has(name) && status.reviewedBy?.startsWith('user:');
    return approved ? [] : [`the workflow ${name} was carried out, and no person approved it`];
  });
}

/** Who may approve their own request just now, read from the records. */
export async function selfApprovalAllowed(scene: Scene): Promise<boolean> {
  const workspaces = await scene.records('Workspace', 'w_system');
  const record = workspaces.find(({ uid }) => uid === scene.workspace);
  const settings = record?.spec.settings;
  if (!settings) return false;
  if (settings.selfApproval !== undefined) return settings.selfApproval;
  const accounts = await scene.records('Account', 'w_system');
  let approvers = 0;
  for (const { uid, name, createdAt, spec } of accounts) {
    const { role, disabled, signedInAt = Number.POSITIVE_INFINITY } = spec;
    const member = await roleIn(scene.kit.services, scene.workspace, uid);
    const membership = (await scene.records('Member', scene.workspace)).find((one) => one.name === name);
    const asMember = (member === 'admin' || member === 'operator') && signedInAt >= (membership?.createdAt ?? 0);
    if (!disabled && ((role === 'platform_admin' && signedInAt >= createdAt) || asMember)) approvers += 1;
  }
  return approvers <= 1;
}

/** Nobody approves what they, or an agent of theirs, asked for, unless the workspace lets them. */
export async function approvalFindings(scene: Scene, done: Done, wasAllowed: boolean): Promise<Findings> {
  const { who, operation, input, outcome } = done;
  if (operation !== 'approve_workflow' || outcome !== 'ok') return [];
  if (who?.kind !== 'person') return [`a ${who?.kind} approved a workflow`];
  const { spec } = await workflowNamed(scene, input['id']);
  const persons = [spec.requesterId, spec.applierId].map(
    (id) => scene.ledger.agents.get(id)?.person ?? rootPerson(scene.ledger, id) ?? id,
  );
  return persons.includes(who.account) && !wasAllowed
    ? [`${who.name} approved what ${who.name} or an agent of theirs asked for`]
    : [];
}

async function workflowNamed(scene: Scene, id: unknown): Promise<WorkflowRecord> {
  const found = (await scene.records('Workflow')).find(({ name }) => name === id);
  if (!found) throw new Error(`There is no workflow ${id}.`);
  return found;
}

function rootPerson(ledger: Ledger, id: string): string | undefined {
  const agent = ledger.agents.get(id);
  return agent && lineOf(ledger, agent).at(-1)?.person;
}

/** What a person approves is what they were shown. */
export async function shownFindings(scene: Scene, done: Done, before: View, after: View): Promise<Findings> {
  if (done.operation !== 'approve_workflow' || done.outcome !== 'ok') return [];
  const { spec, status } = await workflowNamed(scene, done.input['id']);
  if (status.state !== 'executed' || spec.effect.omitted > 0 || !scene.ledger.agents.has(spec.requesterId)) return [];
  const found: Findings = [];
  // A device may have taken another name since: what was shown is the peer that had the name then.
  const { peers } = await scene.kit.services.states.asOf(scene.workspace, { revision: spec.baseRevision });
  const named = new Map([...peers.values()].map(({ uid, name }) => [uid, name]));
  for (const src of after.peers.values()) {
    for (const dst of after.peers.values()) {
      if (src === dst || !before.peers.has(src.uid) || !before.peers.has(dst.uid)) continue;
      const opened = after.open(src.uid, dst.uid) & ~before.open(src.uid, dst.uid);
      const shown = spec.effect.opened.some((row) => row.src === named.get(src.uid) && row.dst === named.get(dst.uid));
      if (opened && !shown)
        found.push(`approving ${done.input['id']} opened ${src.name} to ${dst.name}, which it did not show`);
    }
  }
  return found;
}

/** What agents and API tokens hold. */
export async function scopeFindings({ ledger, credentials, kit, workspace }: Scene): Promise<Findings> {
  const found: Findings = [];
  for (const { kind, agent, account, bearer, key } of credentials) {
    if (kind === 'api') {
      const caller = await kit.gate.authenticate(bearer, '').catch(() => undefined);
      const owner = account === undefined ? undefined : await accountById(kit.services, account);
      const role =
        owner && (owner.spec.role === 'user' ? await roleOf(kit.services, workspace, owner) : owner.spec.role);
      const held = role === undefined ? new Set<string>() : ROLE_SCOPES[role];
      const beyond = [...(caller?.scopesIn(workspace) ?? [])].filter((scope) => !held.has(scope));
      if (beyond.length > 0) found.push(`${key} holds ${beyond.join(', ')}, which its person does not`);
    }
    const granted = ledger.agents.get(agent ?? '');
    if (kind !== 'agt' || !granted) continue;
    const caller = await kit.gate.authenticate(bearer, '').catch(() => undefined);
    if (!caller) continue;
    const scopes = [...caller.scopesIn(workspace)];
    const line = lineOf(ledger, granted);
    const beyond = scopes.filter(
      (scope) =>
        !line.every((member) => member.scopes.includes(scope)) || (line.length > 1 && NEVER_PASSED_ON.includes(scope)),
    );
    if (beyond.length > 0) found.push(`${key} holds ${beyond.join(', ')}, which it was not given`);
  }
  return found;
}
