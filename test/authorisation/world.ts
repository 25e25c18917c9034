import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { KINDS, type Kind } from '../../core/base/record.ts';
import { driftDraft } from '../../core/compliance/drift.ts';
import { announceReview } from '../../core/compliance/reviews/reminders.ts';
import { accountDraft, findAccount } from '../../core/identity/accounts.ts';
import { memberDraft } from '../../core/identity/members.ts';
import { createSession } from '../../core/identity/sessions.ts';
import { serveFaces } from '../kits/http/faces-kit.ts';
import { enrol } from '../kits/plane/devices.ts';
import { buildIdentityKit, CONTEXT, type IdentityKit } from '../kits/plane/identity-kit.ts';
import type { History } from './ask.ts';
import { identitiesOf, type Plane } from './identities.ts';

type Made = Awaited<ReturnType<typeof identitiesOf>>;

/** Longer than a session lives. */
const NIGHT_MS = 13 * 3_600_000;

/** What an agent may not do without a person. */
const OPENING = { name: 'open', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] } };

/** A control plane with two workspaces and every kind of credential, each made as its owner would make it. */
export async function buildWorld() {
  const kit = await buildIdentityKit();
  const faces = await serveFaces(kit, { limits: { rate: 'off' } });
  const [workspace, foreign] = [await kit.workspace('prod'), await kit.workspace('lair')];
  const plane = {
    kit,
    workspace,
    foreign,
    // biome-ignore lint/suspicious/noExplicitAny: each caller knows the answer of the operation it names.
    call: (bearer: string, name: string, raw: Record<string, unknown> = {}, at = workspace): Promise<any> =>
      kit.call({ name }, raw, { bearer, workspace: at }),
    passNight: () => {
      kit.clock.time += NIGHT_MS;
    },

    /** Session of an administrator who has not changed the password that somebody else set. */
    async firstLogin(): Promise<string> {
      const spec = { displayName: '', passwordHash: '', passwordState: 'initial', disabled: false, epoch: 1 } as const;
      const account = accountDraft('first', { ...spec, role: 'user' });
      await kit.services.store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record: account }], CONTEXT);
      await kit.services.store.commit(workspace, [{ op: 'create', record: memberDraft('first', 'admin') }], CONTEXT);
      const made = await findAccount(kit.services, 'first');
      if (!made) throw new Error('The account was not made.');
      return (await createSession(kit.services, made, CONTEXT)).token;
    },
  };
  const made = await identitiesOf(plane);
  const { admin, root } = made;
  const { workflow_id: workflowId } = await plane.call(root, 'create_policy', OPENING);
  const { id: snapshotId } = await plane.call(admin, 'take_snapshot');
  return {
    ...plane,
    ...made,
    faces,
    /** One that waits for a person. */
    workflowId: String(workflowId),
    snapshotId: String(snapshotId),
    liveThrough: () => liveThrough(plane, made),
    [Symbol.asyncDispose]: () => faces[Symbol.asyncDispose](),
  };
}

export type World = Awaited<ReturnType<typeof buildWorld>>;

/** Changes of every kind in both workspaces; the last one may be seen by all who read events. */
async function liveThrough(plane: Plane, made: Omit<Made, 'identities'>): Promise<History> {
  const { kit, call, workspace, foreign } = plane;
  const { admin, root, device } = made;
  const policy = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
  await liveElsewhere(plane, made.foreignAdmin);
  await call(device, 'send_heartbeat');
  await call(admin, 'generate_join_token', { name: 'ours' });
  await call(admin, 'set_member', { username: 'newcomer', role: 'viewer' });
  await call(admin, 'create_agent', { name: 'ours' });
  await call(admin, 'revoke_peer', { id: 'web-4' });
  await call(admin, 'delete_peer', { id: 'web-4' });
  await call(admin, 'create_network', { name: 'lab', spec: { cidr: '10.120.0.0/24' } });
  await call(admin, 'take_snapshot');
  await call(admin, 'plan_network_change', { intent: 'isolate web-1' });
  await call(root, 'create_policy', { ...OPENING, name: 'open too' });
  await call(admin, 'create_policy', policy);
  await announceReview(kit.services, workspace, { kind: 'access', dueAt: kit.clock.time });
  const spec = { src: 'web-1', dst: 'isolated-bot', expect: 'unreachable' };
  await call(admin, 'create_assertion', { name: 'apart', spec });
  // For an event of drift.
  const drifted = { framework: 'soc2', evidenceId: 'ev_new', previousId: 'ev_old', at: 0, controls: [] } as const;
  await kit.services.store.commit(workspace, [{ op: 'create', record: driftDraft(drifted) }], {
    actor: 'system:compliance',
    reason: 'assessed soc2',
    requestId: 'r_drift',
  });
  return { end: await kit.services.store.revision(workspace), foreign: await recordsIn(kit, foreign) };
}

async function liveElsewhere({ kit, call, foreign }: Plane, admin: string): Promise<void> {
  const there = (bearer: string, name: string, raw: Record<string, unknown> = {}) => call(bearer, name, raw, foreign);
  const { token } = await there(admin, 'generate_join_token', { name: 'theirs' });
  await enrol(kit, token, 'theirs-1');
  const agent = await there(admin, 'create_agent', { name: 'theirs', scopes: ['network:read', 'network:write'] });
  await there(agent.token, 'create_policy', OPENING);
  await there(admin, 'create_policy', { name: 'theirs', spec: { action: 'DENY', peerSelector: {} } });
  await there(admin, 'create_network', { name: 'theirs', spec: { cidr: '10.121.0.0/24' } });
  await there(admin, 'create_assertion', {
    name: 'theirs',
    spec: { src: 'theirs-1', dst: 'label=none', expect: 'unreachable' },
  });
  await there(admin, 'take_snapshot');
  await announceReview(kit.services, foreign, { kind: 'access', dueAt: kit.clock.time });
  await there(admin, 'plan_network_change', { intent: 'isolate theirs-1' });
}

/** Ids of the records of a workspace, with their kinds. */
async function recordsIn({ services }: IdentityKit, workspace: string): Promise<ReadonlyMap<string, Kind>> {
  const kinds = Object.keys(KINDS) as Kind[];
  const lists = await Promise.all(kinds.map((kind) => services.store.list(workspace, kind)));
  return new Map(lists.flatMap(({ items }) => items.map(({ uid, kind }) => [uid, kind] as const)));
}
