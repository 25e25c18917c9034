import { expect, it } from 'vitest';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { orderedNetwork } from '../../test/kits/plane/ordered-network.ts';
import type { PolicySpec } from '../model/policy.ts';

const DB: PolicySpec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [] };
const WEB_IN: PolicySpec = { ...DB, ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }] }] };
const [AT_TWO, AT_THREE] = ['2026-01-05T14:00:00.000Z', '2026-01-05T15:00:00.000Z'];

it('an answer about a connection names the next policy that changes it once it begins', async () => {
  await using kit = await buildKit();
  const workspace = await orderedNetwork(kit, {
    base: DB,
    'lap-out': { action: 'DENY', peerSelector: { peers: ['lap'] }, egress: [], startsAt: AT_TWO },
    'db-again': { ...DB, startsAt: AT_TWO },
    'web-in': { ...WEB_IN, startsAt: AT_THREE },
  });
  const as = person('viewer', workspace, 'bob');
  const ask = async (name: string, dst: string) =>
    kit.call(name, { src: 'web-1', dst, protocol: 'TCP', port: 5432 }, { as, workspace, face: 'rest' });
  const note = 'From 2026-01-05T15:00:00Z on it is open, when the policy web-in begins.';
  expect(await ask('check_connectivity', 'db-1')).toMatchObject({ verdict: 'unreachable', note });
  expect((await ask('explain_denial', 'db-1')).explanation).toContain(note);
  expect(await ask('check_connectivity', 'lap')).not.toHaveProperty('note');
});
