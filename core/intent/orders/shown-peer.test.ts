import { expect, test } from 'vitest';
import { peer, stateWith } from '../../../test/kits/records/records.ts';
import { readOrders } from './read-orders.ts';

const WORDS = peer('peers', { address: '10.96.0.1' });
const ADDRESS = peer('192.0.2.7', { address: '10.96.0.2' });
const CI = peer('ci-1', { address: '10.96.0.3' });
const STATE = stateWith(WORDS, ADDRESS, CI);

test('the text of an order tells a peer whose name is another word of orders from that word', () => {
  const textOf = (word: string) =>
    readOrders([{ do: 'deny', from: [word], to: ['ci-1'] }], STATE, { now: 0, timeZone: 'UTC' })[0]?.text;
  expect(textOf('peers')).toBe('deny peers to ci-1');
  expect(textOf(WORDS.uid)).toBe(`deny peer "peers" (${WORDS.uid}) to ci-1`);
  expect(textOf('Peers')).toBe(`deny peer "peers" (${WORDS.uid}) to ci-1`);
  expect(textOf(ADDRESS.uid)).toBe(`deny peer "192.0.2.7" (${ADDRESS.uid}) to ci-1`);
});
