import { expect, test } from 'vitest';
import { buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { createApiToken } from '../tokens/create-api-token.ts';
import { updateWorkspace } from '../workspaces/update-workspace.ts';
import { createAgent } from './create-agent.ts';
import { delegateAgent } from './delegate-agent.ts';
import { renewAgent } from './renew-agent.ts';

interface Made {
  readonly id: string;
  readonly token: string;
  readonly identity: { readonly expiresAt: string };
}

const ORIGIN = '203.0.113.7';

async function withAgent() {
  const kit = await buildIdentityKit();
  const workspace = await kit.workspace('prod');
  const ada = { bearer: await kit.person('ada', 'admin', workspace), workspace };
  const made = await kit.call<Made>(createAgent, { name: 'planner', ttl: '1h' }, ada);
  return { kit, workspace, ada, made, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

test('a renewed agent stays the one it was, with a new token in place of the old one', async () => {
  await using scene = await withAgent();
  const { kit, ada, made } = scene;
  const renewed = await kit.call<Made>(renewAgent, { id: 'planner', ttl: '48h' }, ada);
  expect(renewed).toMatchObject({ id: made.id, identity: { name: 'planner', ttl: '48h', phase: 'Active' } });
  expect(await kit.gate.authenticate(renewed.token, ORIGIN)).toMatchObject({
    id: made.id,
    expiresAt: Date.parse(renewed.identity.expiresAt),
  });
  await expect(kit.gate.authenticate(made.token, ORIGIN)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a shorter life than an agent has left takes nothing from it', async () => {
  await using scene = await withAgent();
  const { identity } = await scene.kit.call<Made>(renewAgent, { id: 'planner', ttl: '1m' }, scene.ada);
  expect(identity).toMatchObject({ expiresAt: scene.made.identity.expiresAt });
});

test('nobody but the person who made an agent is given its token, and no agent is', async () => {
  await using scene = await withAgent();
  const { kit, workspace, made } = scene;
  const bob = { bearer: await kit.person('bob', 'admin', workspace), workspace };
  await expect(kit.call(renewAgent, { id: 'planner' }, bob)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('Only the person who made the agent'),
  });
  await expect(kit.call(renewAgent, { id: 'planner' }, { bearer: made.token })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('a token of the person renews no agent that holds more than the token', async () => {
  await using scene = await withAgent();
  const { kit, ada } = scene;
  const ci = await kit.call<Made>(createApiToken, { name: 'ci', scopes: ['agents:write', 'network:read'] }, ada);
  await expect(kit.call(renewAgent, { id: 'planner' }, { bearer: ci.token })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('a sub-agent is not renewed, and neither is one whose time is over', async () => {
  await using scene = await withAgent();
  const { kit, ada, made } = scene;
  const asked = { id: 'self', subAgentName: 'worker', ttl: '30m', policyPreset: 'inherit' };
  await kit.call(delegateAgent, asked, { bearer: made.token });
  await expect(kit.call(renewAgent, { id: 'worker' }, ada)).rejects.toMatchObject({ code: 'forbidden' });
  kit.clock.time += 2 * 3_600_000;
  await expect(kit.call(renewAgent, { id: 'planner' }, ada)).rejects.toMatchObject({ code: 'expired' });
});

test('where a second person approves root agents, the renewal of one waits for a person too', async () => {
  await using scene = await withAgent();
  const { kit, workspace, ada, made } = scene;
  const settings = { requireApproval: true };
  await kit.call(updateWorkspace, { settings }, { bearer: await kit.admin(), workspace });
  expect(await kit.call(renewAgent, { id: 'planner', ttl: '48h' }, ada)).toMatchObject({
    status: 'pending_approval',
    message: expect.stringContaining('renews the root agent planner'),
  });
  await expect(kit.gate.authenticate(made.token, ORIGIN)).resolves.toMatchObject({ name: 'planner' });
});

test('without a ttl an agent lives on as long as it was made for, and keeps its ttl where its life stays', async () => {
  await using scene = await withAgent();
  const renewed = await scene.kit.call<Made>(renewAgent, { id: 'planner' }, scene.ada);
  expect(renewed).toMatchObject({ identity: { ttl: '1h' } });
  expect(await scene.kit.call<Made>(renewAgent, { id: 'planner', ttl: '1m' }, scene.ada)).toMatchObject({
    identity: { ttl: '1h', expiresAt: renewed.identity.expiresAt },
  });
});
