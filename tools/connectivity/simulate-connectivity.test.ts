import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { person } from '../../test/kits/plane/kit.ts';

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

test('who may read some network may simulate, and need not name it; tokens for joining and devices may not', async () => {
  await using kit = await buildHistoryKit();
  await kit.ask('update_workspace', { settings: { requirePeerApproval: true } });
  const asked = { peers, policies: [] };
  const bearers = {
    reader: (await kit.ask('create_agent', { name: 'reader', scopes: ['network:read'] })).token,
    'other agent': (await kit.ask('create_agent', { name: 'writer', scopes: ['snapshots:read'] })).token,
    'join token': (await kit.ask('generate_join_token', { name: 'join', usageLimit: 5 })).token,
    'device that waits': (await kit.join('laptop')).deviceToken,
  };
  const outcomes: Record<string, string> = {};
  for (const [who, bearer] of Object.entries(bearers)) {
    const answer = kit.call('simulate_connectivity', asked, { bearer });
    outcomes[who] = await answer.then(
      () => 'answered',
      ({ code }) => code,
    );
  }
  expect(outcomes).toEqual({
    reader: 'answered',
    'other agent': 'forbidden',
    'join token': 'forbidden',
    'device that waits': 'forbidden',
  });
  await expect(kit.call('simulate_connectivity', asked)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a member of two workspaces may simulate where one of them lets it read', async () => {
  await using kit = await buildHistoryKit();
  const own = person('viewer', kit.workspace);
  const as = { ...own, workspaces: ['w_elsewhere', kit.workspace] };
  const answer = await kit.call('simulate_connectivity', { peers, policies: [] }, { as });
  expect(answer.rows).toHaveLength(2);
});
