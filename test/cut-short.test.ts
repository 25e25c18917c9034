import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ask, buildCutShort } from './kits/plane/cut-short.ts';
import { enrol } from './kits/plane/devices.ts';
import type { IdentityKit } from './kits/plane/identity-kit.ts';

/** Operations that commit more than once, and the commit that decides: what comes before it is taken back, the rest is done. */
const OPERATIONS: readonly { readonly what: string; readonly decides: number; readonly call: (ask: Ask) => unknown }[] =
  [
    {
      what: 'update_user that disables an account',
      decides: 1,
      call: (ask) => ask('update_user', { username: 'ann', disabled: true }),
    },
    { what: 'delete_user', decides: 1, call: (ask) => ask('delete_user', { username: 'ann' }) },
    {
      what: 'delete_user with a successor',
      decides: 1,
      call: (ask) => ask('delete_user', { username: 'ann', successor: 'bob' }),
    },
    { what: 'remove_member', decides: 1, call: (ask) => ask('remove_member', { username: 'ann' }, 'prod') },
    {
      what: 'add_workspace',
      decides: 2,
      call: (ask) => ask('add_workspace', { slug: 'new', namespace: 'new', displayName: 'New', maxNodeCount: 10 }),
    },
    { what: 'delete_workspace', decides: 1, call: (ask) => ask('delete_workspace', {}, 'old') },
    {
      what: 'apply_network_change that needs nobody',
      decides: 1,
      call: (ask) => ask('apply_network_change', { plan_id: world.made.plan, approved_by: 'admin' }, 'lab'),
    },
    {
      what: 'approve_workflow',
      decides: 1,
      call: (ask) => ask('approve_workflow', { id: world.made.waiting }, 'prod'),
    },
  ];

let world: Awaited<ReturnType<typeof buildCutShort<Awaited<ReturnType<typeof furnish>>>>>;
let untouched: readonly string[];
beforeAll(async () => {
  world = await buildCutShort(furnish);
  ({ records: untouched } = await world.outcome(async () => undefined));
});
afterAll(() => world[Symbol.asyncDispose]());

test.each(OPERATIONS)(
  '$what is finished or leaves nothing, after whichever of its commits the process dies',
  async ({ decides, call }) => {
    const whole = await world.outcome(async (ask) => call(ask));
    expect(whole.commits).toBeGreaterThan(1);
    expect(whole.records).not.toEqual(untouched);
    for (let after = 0; after < whole.commits; after += 1) {
      const { commits, records } = await world.outcome(async (ask) => call(ask), after);
      expect({ commits, records }).toEqual({ commits: after, records: after < decides ? untouched : whole.records });
    }
  },
);

/** Two workspaces in which ann and bob have all that a person may have, and one without peers. */
async function furnish(kit: IdentityKit) {
  const root = await kit.admin();
  const people = { ann: await kit.person('ann'), bob: await kit.person('bob') };
  for (const workspace of ['prod', 'lab', 'old']) {
    const id = await kit.workspace(workspace);
    if (workspace === 'lab') await kit.haveSettings(id, { autoApprove: { maxRisk: 'critical' } });
    for (const [username, bearer] of Object.entries(people)) {
      await kit.call('set_member', { username, role: 'admin' }, { bearer: root, workspace });
      await belongings(kit, username, { bearer, workspace });
    }
  }
  const old = { bearer: root, workspace: 'old' };
  await kit.call('create_webhook', { url: 'https://hooks.example.com/mesh', events: ['*'] }, old);
  await kit.call('start_review', { kind: 'access' }, old);
  await kit.call('create_policy', { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } }, old);
  const plan = (workspace: string) => planOf(kit, { bearer: people.ann, workspace });
  const waits = { plan_id: await plan('prod'), approved_by: 'admin' };
  const asked = { bearer: people.ann, workspace: 'prod' };
  const { workflow_id: waiting } = await kit.call<{ workflow_id: string }>('apply_network_change', waits, asked);
  await plan('prod');
  return { plan: await plan('lab'), waiting };
}

type As = Parameters<IdentityKit['call']>[2];

/** Tokens and an agent; where the workspace has peers, with a sub-agent on a device. */
async function belongings(kit: IdentityKit, username: string, as: As & { workspace: string }): Promise<void> {
  await kit.call('create_api_token', { name: 'ci', scopes: ['network:read'] }, as);
  await kit.call('generate_join_token', { name: 'laptops' }, as);
  const scopes = ['network:read', 'agents:delegate'];
  const { token } = await kit.call<{ token: string }>(
    'create_agent',
    { name: `${username}-root`, scopes, ttl: '24h' },
    as,
  );
  if (as.workspace === 'old') return;
  const name = `${username}-worker`;
  const child = { id: 'self', subAgentName: name, policyPreset: 'inherit', scopes: ['network:read'], ttl: '20h' };
  const { enrollmentToken } = await kit.call<{ enrollmentToken: string }>('delegate_agent', child, { bearer: token });
  await enrol(kit, enrollmentToken, name);
}

async function planOf(kit: IdentityKit, as: As): Promise<string> {
  const { plan_id: id } = await kit.call<{ plan_id: string }>(
    'plan_network_change',
    { intent: 'isolate bob-worker' },
    as,
  );
  return id;
}
