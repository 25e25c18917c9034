import { expect, test } from 'vitest';
import { peer, stateWith } from '../../test/kits/records/records.ts';
import type { PolicySpec, Selector } from '../model/policy.ts';
import { PortSets } from '../reachability/port-sets.ts';
import { policyBeyond } from './policy-within-reach.ts';

const STATE = stateWith(
  peer('db-1', { uid: 'p_db1', labels: { role: 'db' } }),
  peer('db-2', { uid: 'p_db2', labels: { role: 'db' } }),
  peer('web-1', { uid: 'p_web1', labels: { role: 'web' } }),
);
const DB: Selector = { matchLabels: { role: 'db' } };

test.each<[string, Selector, readonly Selector[], boolean]>([
  ['peers that the reach means by label', { peers: ['p_db1', 'p_db2'] }, [DB], true],
  ['one peer that it does not mean', { peers: ['p_db1', 'p_web1'] }, [DB], false],
  ['peers that different rules mean', { peers: ['p_db1', 'p_web1'] }, [DB, { peers: ['p_web1'] }], true],
  ['nobody', { peers: [] }, [DB], true],
  ['a peer that is gone', { peers: ['p_gone'] }, [DB], true],
  ['a label, for a reach that lists all who carry it today', DB, [{ peers: ['p_db1', 'p_db2'] }], false],
  ['a label, for a reach that leaves one of them out', DB, [{ ...DB, notPeers: ['p_db2'] }], false],
  ['the same exception', { ...DB, notPeers: ['p_db2', 'p_db1'] }, [{ ...DB, notPeers: ['p_db2'] }], true],
  ['a list without the exception', { peers: ['p_db1'] }, [{ ...DB, notPeers: ['p_db2'] }], true],
  ['a list with the exception', { peers: ['p_db1', 'p_db2'] }, [{ ...DB, notPeers: ['p_db2'] }], false],
  ['everyone but some', { notPeers: ['p_web1'] }, [DB], false],
])('a policy on %s is within reach or not', (_title, peerSelector, reach, within) => {
  const spec: PolicySpec = { action: 'ALLOW', peerSelector, ingress: [{ from: [{ peerSelector: {} }] }] };
  const layers = [reach.map((outer) => ({ to: [{ peerSelector: outer }] }))];
  expect(policyBeyond(spec, layers, STATE, new PortSets(), true) === undefined).toBe(within);
});
