import { describe, expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEERS = ['api-1', 'web-1', 'cache-1'].map((name, index) =>
  peer(name, { labels: { role: name.slice(0, -2) }, address: `10.96.0.${index + 1}` }),
);
const select = (role: string) => ({ matchLabels: { role } });
const IN_ONE_DIRECTION = policy('to-api', {
  action: 'ALLOW',
  peerSelector: select('api'),
  ingress: [{ from: [{ peerSelector: select('web') }], ports: [{ protocol: 'TCP', port: 8080 }] }],
});
const OUT = policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{ to: ['*'] }] });
const plan = (intent: string, ...policies: ReturnType<typeof policy>[]) =>
  planByGrammar({ intent, state: stateWith(...PEERS, ...policies), now: NOW });

describe('"still"', () => {
  const INTENT = 'api-1 may not initiate connections to web-1, but web-1 may still reach api-1';

  it('opens nothing where some of it is closed today: it is asked about', () => {
    expect(plan(INTENT, IN_ONE_DIRECTION)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('some of it is closed'),
    });
  });

  it('keeps what is open', () => {
    expect(plan(INTENT)).toMatchObject({ outcome: 'changes' });
  });
});

describe('"deny all by default"', () => {
  it('is asked about where it closes what policies allow in one direction', () => {
    expect(plan('deny all by default', IN_ONE_DIRECTION)).toMatchObject({
      summary: 'Deny everything that no policy allows in both directions.',
      questions: [expect.stringContaining('such as "web-1" to "api-1" by "to-api"')],
    });
  });

  it('is not where policies allow both directions, or nothing', () => {
    expect(plan('deny all by default', IN_ONE_DIRECTION, OUT)).not.toHaveProperty('questions');
    expect(plan('deny all by default')).not.toHaveProperty('questions');
  });
});

it('a bracket with protocols alone takes no port from the service before it', () => {
  expect(plan('dns (tcp and udp) from web-1 to cache-1')).toMatchObject({
    outcome: 'refused',
    reason: '"(tcp and udp)" names no port, and "dns" would be lost.',
  });
});
