import { expect, test } from 'vitest';
import { buildHistoryKit } from '../test/history-kit.ts';

const peers = [
  { name: 'web', labels: { role: 'web' } },
  { name: 'db', labels: { role: 'db' } },
];
const rule = { from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] };
const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [rule] };

test('a network given in the request is judged without reading or storing anything, in Community too', async () => {
  await using kit = await buildHistoryKit({ edition: 'community' });
  const before = await kit.services.store.revision(kit.workspace);
  const queries = [{ src: 'web', dst: 'db', protocol: 'TCP', port: 5432 }];
  const answer = await kit.ask('simulate_connectivity', { peers, policies: [{ name: 'web-to-db', spec }], queries });
  expect(answer.rows).toEqual([
    { src: 'web', dst: 'db', allowed: [{ protocol: 'TCP', from: 5432, to: 5432 }] },
    { src: 'db', dst: 'web', allowed: 'ALL' },
  ]);
  expect(answer.verdicts).toHaveLength(1);
  expect(await kit.services.store.revision(kit.workspace)).toBe(before);
});

test('a policy that is none is refused by its place', async () => {
  await using kit = await buildHistoryKit();
  const asked = kit.ask('simulate_connectivity', { peers, policies: [{ name: 'x', spec: { action: 'MAYBE' } }] });
  await expect(asked).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('action') });
});
