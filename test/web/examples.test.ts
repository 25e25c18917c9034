import { expect, test } from 'vitest';
import { examplesOf } from '../../web/src/pages/change/examples.ts';

const peer = (name: string, labels: Record<string, string> = {}) => ({ name, labels });

test('examples name the most frequent values of the label that most peers have, and a peer without the second', () => {
  const peers = [
    peer('web-1', { role: 'web', env: 'prod' }),
    peer('web-2', { role: 'web' }),
    peer('db-1', { role: 'db' }),
    peer('bot', { 'mesh.internal/agent': 'a', role: 'agent' }),
  ];
  expect(examplesOf(peers)).toEqual([
    'let role=web reach role=db on port 5432 and nobody else',
    'deny ssh from role=web to role=db',
    'let web-1 reach role=db for 2 hours',
  ]);
});

test('examples name two peers where no label tells any apart, and there are none of one peer', () => {
  expect(examplesOf([peer('one', { env: 'prod' }), peer('two', { env: 'prod' })])[0]).toContain('let one reach two ');
  expect(examplesOf([peer('one')])).toEqual([]);
});

test('labels that the control plane gives itself are in no example', () => {
  const agents = [peer('one', { 'mesh.internal/agent': 'a' }), peer('two', { 'mesh.internal/agent': 'b' })];
  expect(examplesOf(agents).join()).not.toContain('mesh.internal');
});
