import { describe, expect, test } from 'vitest';
import { draftOf } from '../core/base/record.ts';
import { createAgent } from '../tools/agents/create-agent.ts';
import { revokeAgent } from '../tools/agents/revoke-agent.ts';
import { createApiToken } from '../tools/tokens/create-api-token.ts';
import { revokeApiToken } from '../tools/tokens/revoke-api-token.ts';
import { logOut } from '../tools/users/log-out.ts';
import { logOutEverywhere } from '../tools/users/log-out-everywhere.ts';
import { updateUser } from '../tools/users/update-user.ts';
import { deleteWorkspace } from '../tools/workspaces/delete-workspace.ts';
import { removeMember } from '../tools/workspaces/remove-member.ts';
import { setMember } from '../tools/workspaces/set-member.ts';
import { serveFaces } from './kits/http/faces-kit.ts';
import { reading } from './kits/http/read-events.ts';
import { buildIdentityKit, CONTEXT } from './kits/plane/identity-kit.ts';
import { policy } from './kits/records/records.ts';

/** Ada and an administrator in one workspace, with every kind of credential that can open a stream. */
async function prepared() {
  const kit = await buildIdentityKit();
  const faces = await serveFaces(kit);
  const workspace = await kit.workspace('prod');
  const admin = { bearer: await kit.admin(), workspace };
  const ada = await kit.person('ada', 'operator', workspace);
  const made = await kit.call<{ token: string; id: string }>(
    createApiToken,
    { name: 'ci' },
    { bearer: ada, workspace },
  );
  const agent = await kit.call<{ token: string; id: string }>(createAgent, { name: 'bot' }, admin);
  const write = (name: string) => {
    const record = draftOf(policy(name, { action: 'DENY', peerSelector: {} }));
    return kit.services.store.commit(workspace, [{ op: 'create', record }], CONTEXT);
  };
  const open = async (bearer: string) => {
    const response = await faces.send('/api/v1/events', bearer, { headers: { 'x-workspace-id': workspace } });
    expect(response.status).toBe(200);
    return reading(response);
  };
  const boss = { bearer: await kit.person('boss', 'admin', workspace), workspace };
  const bossAgent = await kit.call<{ token: string }>(createAgent, { name: 'boss-bot' }, boss);
  const credentials = { ada, api: made.token, agent: agent.token, bossAgent: bossAgent.token };
  return { kit, faces, workspace, admin, made, agent, credentials, write, open };
}

type Prepared = Awaited<ReturnType<typeof prepared>>;

/** What takes the right to the stream of a credential away, and the reason that its reader is given. */
const ENDS: readonly [string, keyof Prepared['credentials'], (it: Prepared) => Promise<unknown>, string][] = [
  [
    'a session whose member is removed',
    'ada',
    (it) => it.kit.call(removeMember, { username: 'ada' }, it.admin),
    'not_found',
  ],
  [
    'a session that logs out',
    'ada',
    (it) => it.kit.call(logOut, {}, { bearer: it.credentials.ada }),
    'unauthenticated',
  ],
  [
    'a session whose person logs out everywhere',
    'ada',
    (it) => it.kit.call(logOutEverywhere, {}, { bearer: it.credentials.ada }),
    'unauthenticated',
  ],
  [
    'a session whose account is disabled',
    'ada',
    (it) => it.kit.call(updateUser, { username: 'ada', disabled: true }, it.admin),
    'unauthenticated',
  ],
  ['a session in a deleted workspace', 'ada', (it) => it.kit.call(deleteWorkspace, {}, it.admin), 'not_found'],
  [
    'an API token whose member is removed',
    'api',
    (it) => it.kit.call(removeMember, { username: 'ada' }, it.admin),
    'unauthenticated',
  ],
  [
    'a revoked API token',
    'api',
    (it) => it.kit.call(revokeApiToken, { id: it.made.id }, { bearer: it.credentials.ada, workspace: it.workspace }),
    'unauthenticated',
  ],
  [
    'an agent of a person who is removed',
    'bossAgent',
    (it) => it.kit.call(removeMember, { username: 'boss' }, it.admin),
    'unauthenticated',
  ],
  ['a revoked agent', 'agent', (it) => it.kit.call(revokeAgent, { id: it.agent.id }, it.admin), 'unauthenticated'],
];

describe('an event stream', () => {
  test.each(ENDS)(
    'of %s ends at once with the reason, before any further event',
    async (_what, credential, end, code) => {
      const plane = await prepared();
      await using _faces = plane.faces;
      const events = await plane.open(plane.credentials[credential]);
      await plane.write('before');
      expect((await events.next())?.data.changes[0].name).toBe('before');
      await end(plane);
      await plane.write('after');
      expect(await events.next()).toMatchObject({ event: 'end', data: { code } });
      expect(await events.next()).toBeUndefined();
    },
  );

  test('of a member whose role is lowered goes on, with what the new role may see', async () => {
    const plane = await prepared();
    await using _faces = plane.faces;
    const { kit, admin } = plane;
    await kit.call(setMember, { username: 'ada', role: 'auditor' }, admin);
    const events = await plane.open(plane.credentials.ada);
    await plane.write('before');
    expect((await events.next())?.data).toMatchObject({ actor: CONTEXT.actor, changes: [{ name: 'before' }] });
    await kit.call(setMember, { username: 'ada', role: 'viewer' }, admin);
    await plane.write('after');
    const after = (await events.next())?.data;
    expect([after.changes[0].name, after.actor]).toEqual(['after', undefined]);
    await events.stop();
  });

  test('of a member of another workspace goes on', async () => {
    const plane = await prepared();
    await using _faces = plane.faces;
    const { kit, faces } = plane;
    const other = await kit.workspace('other');
    await kit.call(setMember, { username: 'ada', role: 'viewer' }, { ...plane.admin, workspace: other });
    const elsewhere = { headers: { 'x-workspace-id': other } };
    const events = reading(await faces.send('/api/v1/events', plane.credentials.ada, elsewhere));
    await kit.call(removeMember, { username: 'ada' }, plane.admin);
    await kit.call(createAgent, { name: 'there' }, { bearer: plane.admin.bearer, workspace: other });
    expect((await events.next())?.data.changes[0].name).toBe('there');
    await events.stop();
  });
});
