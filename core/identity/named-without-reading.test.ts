import { expect, test } from 'vitest';
import { buildScene } from '../../test/authority/scene.ts';
import type { MeshError } from '../base/errors.ts';

const egress = (peer: string) => [{ to: [{ peerSelector: { peers: [peer] } }] }];
const delegation = { id: 'self', ttl: '5m', policyPreset: 'sandboxed', scopes: ['agents:delegate'] };

/** Calls that need a scope of their own, each with what names a record, one that is there and one that is not. */
const CALLS: readonly (readonly [string, (name: string) => Record<string, unknown>, string, string])[] = [
  ['generate_join_token', (network) => ({ name: 'fleet', network }), 'lab', 'attic'],
  ['delegate_agent', (peer) => ({ ...delegation, subAgentName: 'kid', egress: egress(peer) }), 'secret-1', 'secret-2'],
];

async function scene() {
  const at = await buildScene();
  await at.call(at.ada, 'create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  const blind = await at.agent('blind', ['tokens:write', 'agents:delegate']);
  return { ...at, blind: blind.token };
}

test.each(CALLS)('%s of who may not read the network answers alike for what is there and not', async (...one) => {
  const [name, raw, there, nowhere] = one;
  const at = await scene();
  await using _ = at.kit;
  const said = (named: string) =>
    at.call(at.blind, name, raw(named)).then(
      () => 'done',
      ({ code, message, details }: MeshError) => ({ code, message, details }),
    );
  expect(await said(there)).toMatchObject({ code: 'forbidden', details: { scope: 'network:read' } });
  expect(await said(nowhere)).toEqual(await said(there));
});

test('who may not read the network makes join tokens for the default network and delegates without naming peers', async () => {
  const at = await scene();
  await using _ = at.kit;
  for (const more of [{}, { network: 'default' }]) {
    expect(await at.call(at.blind, 'generate_join_token', { name: 'fleet', ...more })).toBeTruthy();
  }
  const made = await at.call(at.blind, 'delegate_agent', {
    ...delegation,
    subAgentName: 'kid',
    egress: [{ to: [{ peerSelector: { matchLabels: { role: 'web' } } }] }],
  });
  expect(made).toMatchObject({ enrollmentToken: expect.stringMatching(/^mesh-dlg-/) });
});
