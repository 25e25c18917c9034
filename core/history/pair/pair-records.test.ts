import { expect, test } from 'vitest';
import { buildKit } from '../../../test/kits/plane/kit.ts';
import { peer, policy } from '../../../test/kits/records/records.ts';
import { draftOf, type StoredRecord } from '../../base/record.ts';
import { formatInstant } from '../../base/time.ts';
import { explain } from '../../reachability/explain.ts';
import { pairHistory } from './flips.ts';
import { pairRecords } from './pair-records.ts';
import { rangeOf } from './range.ts';

const of = (role: string) => ({ matchLabels: { role } });
/** Stored before a rule of the contract that it breaks. */
const UNREADABLE = { ingress: [{ from: ['anyone'] }] };

test.each([
  [
    'of others that cannot be read leaves it alone',
    { action: 'DENY', peerSelector: of('other'), ...UNREADABLE },
    'reachable',
    0,
  ],
  [
    'of one end that cannot be read closes it',
    { action: 'DENY', peerSelector: of('db'), ...UNREADABLE },
    'unreachable',
    1,
  ],
  ['whose selector cannot be read closes it', { action: 'DENY', peerSelector: { role: 'other' } }, 'unreachable', 1],
  ['with no selector is about everyone', { action: 'DENY' }, 'unreachable', 1],
])('in the history of a connection, as in the network, a policy %s', async (_, spec, verdict, read) => {
  await using kit = await buildKit();
  const workspace = await kit.workspace('prod');
  const { store, states, clock } = kit.services;
  const write = (...records: StoredRecord[]) =>
    store.commit(
      workspace,
      records.map((record) => ({ op: 'create', record: draftOf(record) })),
      { actor: 'user:ada', reason: 'work', requestId: 'r' },
    );
  const [src, dst] = [
    peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' }),
    peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' }),
  ];
  await write(src, dst);
  const from = formatInstant(clock.now());
  kit.clock.time += 60_000;
  await write(policy('p', spec as never));
  const range = await rangeOf(kit.services, workspace, { from });
  const records = await pairRecords({ store }, workspace, { src, dst }, range);
  const { first, flips } = pairHistory(records, range.since, { src, dst });
  const last = (flips.at(-1)?.after ?? first).reading.verdict;
  const reach = states.reachability(await states.current(workspace), clock.now());
  expect([last, explain(reach, { src: src.name, dst: dst.name }).verdict]).toEqual([verdict, verdict]);
  expect(records.steps).toHaveLength(read);
});
