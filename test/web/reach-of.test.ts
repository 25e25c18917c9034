import { expect, test } from 'vitest';
import type { Agent } from '../../web/src/pages/agents/words.ts';
import { approvalWords, reachWords } from '../../web/src/pages/agents/words.ts';
import { reachOf } from '../../web/src/pages/connect/reach-of.ts';

const WEB = [{ to: [{ peerSelector: { matchLabels: { role: 'web' } } }] }];
const BELOW = { parentRef: { name: 'ops' }, policyPreset: 'sandboxed' };
const REFUSED = 'Changes beyond what it may open, or to what others made, are refused.';

test('a reach is read from lines of whom and ports', () => {
  const text = 'role=web,env=prod tcp/443,8000-8100\n\n db-1 udp/53 \n10.1.0.0/16 icmp\n*';
  expect(reachOf('role=web,env=prod TCP 443, TCP 8000-8100\ndb-1 53/udp\n10.1.0.0/16 ICMP\n*')).toEqual(reachOf(text));
  expect(reachOf(text)).toEqual({
    rules: [
      {
        to: [{ peerSelector: { matchLabels: { role: 'web', env: 'prod' } } }],
        ports: [
          { protocol: 'TCP', port: 443 },
          { protocol: 'TCP', port: 8000, endPort: 8100 },
        ],
      },
      { to: [{ peerSelector: { peers: ['db-1'] } }], ports: [{ protocol: 'UDP', port: 53 }] },
      { to: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: [{ protocol: 'ICMP' }] },
      { to: [{ peerSelector: {} }] },
    ],
  });
});

test.each(['role=web http', 'role=web 443 and more', 'role=web 443,'])('%s is no line of a reach', (line) => {
  expect(reachOf(`db-1 5432\n${line}`)).toEqual({ wrong: line });
});

test.each([
  [
    'a root agent without a reach',
    {},
    ['nothing'],
    'Changes that open something, or to what others made, wait for approval.',
  ],
  [
    'a root agent',
    { reach: WEB },
    ['role=web on everything'],
    'Changes beyond what it may open, or to what others made, wait for approval.',
  ],
  ['a sandboxed sub-agent', { ...BELOW, egress: WEB }, ['role=web on everything'], REFUSED],
  ['an isolated sub-agent', { ...BELOW, policyPreset: 'isolated', egress: WEB }, ['nothing'], REFUSED],
  ['an inheriting sub-agent', { ...BELOW, policyPreset: 'inherit' }, ['what ops may open'], REFUSED],
  ['a coordinator', { ...BELOW, policyPreset: 'coordinator' }, ['its sub-agents and those beside it'], REFUSED],
])('what %s may open is told apart from who approves its changes', (_, agent, reach, approval) => {
  const writer = { scopes: ['intents:apply'], policyPreset: 'inherit', ...agent } as unknown as Agent;
  expect(reachWords(writer)).toEqual(reach);
  expect(approvalWords(writer)).toBe(approval);
  expect(approvalWords({ ...writer, scopes: ['network:read'] })).toBeUndefined();
});
