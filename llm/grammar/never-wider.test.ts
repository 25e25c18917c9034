import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import { effectOf } from '../../core/effect/effect.ts';
import { type PortSpan, spansOf, subtract } from '../../core/effect/port-spans.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { namesOf } from '../../core/state/terms.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { runs } from '../../test/kits/runs.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEERS = [
  peer('web-1', { labels: { role: 'web', env: 'prod' } }),
  peer('web-2', { labels: { role: 'web', env: 'staging' } }),
  peer('db-1', { labels: { role: 'db', env: 'prod' } }),
  peer('db-2', { labels: { role: 'db', env: 'staging' } }),
  peer('api-1', { labels: { role: 'api', env: 'prod' } }),
  peer('ci-1', { labels: { role: 'ci' } }),
];
const WEB = { matchLabels: { role: 'web' } };
const DB = { matchLabels: { role: 'db' } };
const POLICIES: Readonly<Record<string, PolicySpec>> = {
  base: { action: 'DENY', peerSelector: {} },
  'db-closed': { action: 'ALLOW', peerSelector: DB, ingress: [] },
  'web-to-db': {
    action: 'ALLOW',
    peerSelector: DB,
    ingress: [{ from: [{ peerSelector: WEB }], ports: [{ port: 5432 }] }],
  },
  'web-out': { action: 'ALLOW', peerSelector: WEB, egress: [{ to: [{ peerSelector: DB }] }] },
  'prod-closed': {
    action: 'ALLOW',
    peerSelector: { matchLabels: { env: 'prod' } },
    ingress: [{ ports: [{ port: 443 }] }],
  },
  'no-ci': {
    action: 'DENY',
    peerSelector: DB,
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'ci' } } }] }],
  },
};

const who = fc.constantFrom(
  'web',
  'the databases',
  'api',
  'ci-1',
  'web-2',
  'everyone',
  'everyone except ci',
  'web and api',
  'the prod web servers',
  'db except db-2',
  'env=staging',
);
const ports = fc.constantFrom('', '', ' on 5432', ' over https', ' on udp 53', ' on all ports except 22');
const time = fc.constantFrom('', '', ' for 2 hours');
const sentence = fc.oneof(
  fc.tuple(who, who, ports, time).map(([a, b, p, t]) => `let ${a} reach ${b}${p}${t}`),
  fc.tuple(who, who, ports).map(([a, b, p]) => `only ${a} may reach ${b}${p}`),
  fc.tuple(who, who, ports, time).map(([a, b, p, t]) => `block ${a} from ${b}${p}${t}`),
  fc.tuple(who, who, ports).map(([a, b, p]) => `allow traffic between ${a} and ${b}${p}`),
  fc.tuple(who, who).map(([a, b]) => `isolate ${a} from ${b}`),
  who.map((a) => `isolate ${a}`),
  fc.tuple(who, who, ports).map(([a, b, p]) => `limit access to ${b} to ${a}${p}`),
  who.map((b) => `limit ${b} to port 443`),
  fc.tuple(who, who, who).map(([a, b, c]) => `let ${a} reach ${b} on 5432 and ${c} on 443`),
  fc.tuple(who, who).map(([a, b]) => `${a} no longer needs anything on ${b}`),
  fc.tuple(who, who).map(([a, b]) => `${b} should be reached on 5432 by ${a} instead of ci-1`),
  fc.tuple(who, who).map(([a, b]) => `let ${a} reach ${b} on 443, no other outbound`),
  fc.tuple(who, who).map(([a, b]) => `ssh from ${a} to ${b}, it is slow`),
);
const revoking = fc.tuple(who, who).map(([a, b]) => `revoke ${a}'s access to ${b}`);
const policies = fc.subarray(Object.keys(POLICIES));

const stateOf = (names: readonly string[]) =>
  stateWith(...PEERS, ...names.flatMap((name) => (POLICIES[name] ? [policy(name, POLICIES[name])] : [])));

function asked({ protocol, port, endPort }: Expectation): readonly PortSpan[] {
  return spansOf('ALL').flatMap((span) => {
    if (protocol === undefined) return [span];
    if (protocol !== span.protocol) return [];
    return port === undefined ? [span] : [{ protocol, from: port, to: endPort ?? port }];
  });
}

/** What opens between two peers and is in no expectation that says "allow". */
function unasked(
  expectations: readonly Expectation[],
  after: NetworkState,
  src: string,
  dst: string,
  opened: readonly PortSpan[],
) {
  return expectations
    .filter(
      (one) => one.expect === 'allow' && namesOf(one.src, after).includes(src) && namesOf(one.dst, after).includes(dst),
    )
    .reduce((left, one) => subtract(left, asked(one)), [...opened]);
}

describe('a plan of the built-in planner, whatever policies there are', () => {
  it('opens nothing but what its sentences ask to open', () => {
    fc.assert(
      fc.property(
        policies,
        fc.array(fc.oneof(sentence, revoking), { minLength: 1, maxLength: 3 }),
        (given, sentences) => {
          const state = stateOf(given);
          const answer = planByGrammar({ intent: sentences.join('; '), state, now: NOW });
          if (answer.outcome !== 'changes') return;
          const { after } = planChanges(state, answer.changes, NOW);
          const { groups } = effectOf(compile(modelOf(state, NOW)), compile(modelOf(after, NOW)));
          const wider = groups.flatMap(({ src, dst, opened }) =>
            src.flatMap((from) =>
              dst.flatMap((to) => (from === to ? [] : unasked(answer.expectations, after, from, to, opened))),
            ),
          );
          expect(wider).toEqual([]);
        },
      ),
      { numRuns: runs(1_500) },
    );
  });

  it('achieves what a single sentence asks for', () => {
    fc.assert(
      fc.property(policies, sentence, (given, intent) => {
        const state = stateOf(given);
        const answer = planByGrammar({ intent, state, now: NOW });
        if (answer.outcome !== 'changes') return;
        const { after } = planChanges(state, answer.changes, NOW);
        expect(unmetExpectations(answer.expectations, after, compile(modelOf(after, NOW)))).toEqual([]);
      }),
      { numRuns: runs(1_500) },
    );
  });
});
