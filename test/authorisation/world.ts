import { accountDraft, findAccount } from '../../core/identity/accounts.ts';
import { memberDraft } from '../../core/identity/members.ts';
import { createSession } from '../../core/identity/sessions.ts';
import { SYSTEM_WORKSPACE } from '../../core/ids.ts';
import { KINDS, type Kind } from '../../core/record.ts';
import { serveFaces } from '../faces-kit.ts';
import { buildIdentityKit, CONTEXT } from '../identity-kit.ts';
import type { History } from './ask.ts';
import { identitiesOf } from './identities.ts';

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

    /** Session of an administrator who has the password that the documentation tells. */
    async firstLogin(): Promise<string> {
      const spec = { displayName: '', passwordHash: '', passwordState: 'built-in', disabled: false, epoch: 1 } as const;
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
async function liveThrough(
  { kit, call, workspace, foreign }: Pick<Parameters<typeof identitiesOf>[0], 'kit' | 'call' | 'workspace' | 'foreign'>,
  { admin, root, foreignAdmin, device }: Omit<Awaited<ReturnType<typeof identitiesOf>>, 'identities'>,
): Promise<History> {
  const policy = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
  await call(foreignAdmin, 'generate_join_token', { name: 'theirs' }, foreign);
  await call(foreignAdmin, 'create_agent', { name: 'theirs' }, foreign);
  await call(foreignAdmin, 'create_policy', policy, foreign);
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
  const spec = { src: 'web-1', dst: 'isolated-bot', expect: 'unreachable' };
  await call(admin, 'create_assertion', { name: 'apart', spec });
  const kinds = Object.keys(KINDS) as Kind[];
  const theirs = await Promise.all(kinds.map((kind) => kit.services.store.list(foreign, kind)));
  const ids = theirs.flatMap(({ items }) => items.map(({ uid }) => uid));
  return { end: await kit.services.store.revision(workspace), foreign: new Set(ids) };
}
