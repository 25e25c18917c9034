import { expect, test } from 'vitest';
import { effectOf, outsidePairs } from '../../core/effect/effect.ts';
import { effectView } from '../../core/effect/effect-view.ts';
import { effectBlocks } from '../../core/effect/rows.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { leftText, linesOf, pairsLeft, pairsNotNamed } from '../../web/src/effect/grouped.ts';
import { peer, policy, stateWith } from '../kits/records/records.ts';

const OTHERS = Array.from({ length: 28 }, (_, index) => peer(`api-${index + 1}`));
const PRINTER = peer('printer', { labels: { role: 'printer' } });
const CLOSED = policy('closed', {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'printer' } },
  ingress: [],
});

function opened() {
  const [before, after] = [stateWith(...OTHERS, PRINTER, CLOSED), stateWith(...OTHERS, PRINTER)];
  return effectOf(compile(modelOf(before, 0)), compile(modelOf(after, 0)));
}

test('pairs that the first rows of an effect do not name are counted, so that no row reads as all that opens', () => {
  const effect = effectView(opened());
  const [line] = linesOf(effect).opens;
  expect([effect.opened_pairs, effect.opened_outside, line?.sources.length]).toEqual([28, 1, 25]);
  expect(pairsNotNamed(effect)).toBe(4);
});

test('the lines of an effect that came whole name all of its pairs', () => {
  const effect = opened();
  const { opens } = linesOf(effectView(effect), effectBlocks(effect).blocks);
  expect(pairsLeft(opens, effect.openedPairs + outsidePairs(effect, 'opened'))).toBe(0);
});

test('peers on both sides of a line are no pair with themselves', () => {
  expect(pairsLeft([{ sources: ['a', 'b'], targets: ['b', 'c'], traffic: 'TCP' }], 3)).toBe(0);
});

test('pairs that a plan does not name are said to be listed in Review', () => {
  expect([leftText(1, false), leftText(4_000, true)]).toEqual([
    'and 1 pair more, too many to name here',
    'and 4,000 pairs more: Review lists all, by kinds of peers',
  ]);
});
