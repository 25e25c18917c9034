import { expect, test } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import type { Selector } from './policy.ts';
import { selects } from './selector.ts';

const LABELS = { role: 'db', tier: 'back' };

test.each<[Selector, boolean]>([
  [{}, true],
  [{ matchLabels: { role: 'db' } }, true],
  [{ matchLabels: { role: 'db', tier: 'front' } }, false],
  [{ matchExpressions: [{ key: 'role', operator: 'In', values: ['web', 'db'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, true],
  [{ matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['db'] }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  [{ peers: ['p_1'] }, true],
  [{ peers: ['subject'] }, false],
  [{ peers: [] }, false],
  [{ peers: ['p_2', 'p_1'], matchLabels: { role: 'db' } }, true],
  [{ peers: ['p_1'], matchLabels: { role: 'web' } }, false],
  [{ peers: ['p_1'], notPeers: ['p_1'] }, false],
  [{ notPeers: ['p_1'] }, false],
  [{ notPeers: ['p_2'] }, true],
  [{ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, false],
])('%j selects: %s, and the engine says the same', (selector, selected) => {
  const deny = policy('deny', { action: 'DENY', peerSelector: selector, ingress: [{}] });
  const subject = peer('subject', { uid: 'p_1', labels: LABELS, address: '10.96.0.1' });
  const engine = compile(modelOf(stateWith(subject, peer('other', { address: '10.96.0.2' }), deny), 0));
  expect(selects(selector, { uid: 'p_1', labels: LABELS })).toBe(selected);
  expect(engine.verdict('other', 'subject', 'TCP', 1)).toBe(!selected);
});
