import { expect, it } from 'vitest';
import { buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { createApiToken } from '../tokens/create-api-token.ts';
import { createAgent } from './create-agent.ts';

it('an agent comes with a token that holds its scopes', async () => {
  await using kit = await buildIdentityKit();
  const workspace = await kit.workspace('prod');
  const bearer = await kit.person('ada', 'admin', workspace);
  const { token, id } = await kit.call(createAgent, { name: 'planner' }, { bearer, workspace });
  const caller = await kit.gate.authenticate(String(token), '203.0.113.7');
  expect(caller).toMatchObject({ kind: 'agent', id, name: 'planner', workspaces: [workspace], interactive: false });
  const scopes = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply', 'agents:delegate'];
  expect([...caller.scopesIn(workspace)]).toEqual(scopes);
});

it('a token makes no agent that holds more than the token', async () => {
  await using kit = await buildIdentityKit();
  const workspace = await kit.workspace('prod');
  const input = { name: 'ci', scopes: ['agents:write', 'network:read'] };
  const { token } = await kit.call(createApiToken, input, { bearer: await kit.admin(), workspace });
  const make = (name: string, scopes: readonly string[]) =>
    kit.call(createAgent, { name, scopes }, { bearer: String(token) });
  await expect(make('wide', ['network:read', 'network:write'])).rejects.toMatchObject({
    code: 'forbidden',
    details: { scope: 'network:write' },
  });
  await expect(kit.call(createAgent, { name: 'default' }, { bearer: String(token) })).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('unless scopes (--scopes) says otherwise'),
  });
  await expect(make('narrow', ['network:read', 'agents:delegate'])).resolves.toMatchObject({ identity: {} });
});

it('an agent makes no root agent, whatever it holds', async () => {
  await using kit = await buildIdentityKit();
  const workspace = await kit.workspace('prod');
  const as = agent(['agents:write', 'network:read'], workspace);
  await expect(
    kit.call(createAgent, { name: 'heir', scopes: ['network:read'] }, { as, workspace }),
  ).rejects.toMatchObject({ code: 'forbidden' });
});
