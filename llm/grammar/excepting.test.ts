import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEERS = [
  peer('web-1', { labels: { role: 'web' } }),
  peer('web-2', { labels: { role: 'web' } }),
  peer('db-1', { labels: { role: 'db' } }),
  peer('laptop-1', { labels: {} }),
];
const NAMES = PEERS.map(({ name }) => name);
const ALL_OPEN = stateWith(...PEERS);
const ALSO_LIMITED = stateWith(
  ...PEERS,
  policy('db-in', {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ ports: [{ port: 22 }] }],
  }),
);

/** Whether one reaches another on SSH before and after, for each pair. */
function reachOf(intent: string, state: typeof ALL_OPEN) {
  const answer = planByGrammar({ intent, state, now: NOW });
  if (answer.outcome !== 'changes') throw new Error(JSON.stringify(answer));
  const { after } = planChanges(state, answer.changes, NOW);
  const [was, is] = [compile(modelOf(state, NOW)), compile(modelOf(after, NOW))];
  return (src: string, dst: string, port: number) => [was, is].map((reach) => reach.verdict(src, dst, 'TCP', port));
}

describe('what an exception leaves out', () => {
  it.each([
    ['isolate web-1 except ssh from laptop-1', 'laptop-1', 'web-1'],
    ['quarantine web-1 but keep ssh from laptop-1', 'laptop-1', 'web-1'],
    ['isolate web-1 except 22 to db', 'web-1', 'db-1'],
    ['block web from everyone except 22 to db', 'web-2', 'db-1'],
    ['block all traffic to db except from web-2 on 22', 'web-2', 'db-1'],
    ['close everything on web except ssh from laptop-1', 'laptop-1', 'web-2'],
    ['block everyone from db but let laptop-1 ssh into db', 'laptop-1', 'db-1'],
  ])('of "%s" stays as it was from %s to %s, on that port alone, and nothing opens', (intent, from, to) => {
    for (const state of [ALL_OPEN, ALSO_LIMITED]) {
      const reach = reachOf(intent, state);
      expect(reach(from, to, 22)).toEqual([true, true]);
      expect(reach(from, to, 23)[1]).toBe(false);
      for (const src of NAMES) {
        for (const dst of NAMES.filter((name) => name !== src)) {
          for (const port of [22, 23, 5432]) {
            const [was, is] = reach(src, dst, port);
            expect([src, dst, port, is && !was]).toEqual([src, dst, port, false]);
          }
        }
      }
    }
  });
});
