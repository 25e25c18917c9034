import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { playHistory, randomHistory } from '../../test/kits/plane/random-history.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { StoredRecord } from '../base/record.ts';
import type { PolicySpec } from '../model/policy.ts';
import type { ComplianceSettings } from '../model/workspaces.ts';
import { buildCompiler } from '../state/compiled.ts';
import type { NetworkState } from '../state/state.ts';
import { catalogOf } from './catalog.ts';
import { checkOf } from './checks/index.ts';
import { flippedControls, frameworksInForce, type Side } from './flips.ts';
import { FRAMEWORKS } from './frameworks.ts';
import { scopeRule } from './scope.ts';
import { viewer } from './sweep.ts';

const NOW = Date.UTC(2026, 0, 5);
const card = peer('card-1', { labels: { 'compliance.scope': 'cde' }, address: '10.96.0.2' });
const web = peer('web-1', { labels: { role: 'web' }, address: '10.96.0.3' });
const base = policy('base', { action: 'DENY', peerSelector: {} });
const allow = (rule: NonNullable<PolicySpec['ingress']>[number]) =>
  policy('grant', {
    action: 'ALLOW',
    peerSelector: { matchLabels: { 'compliance.scope': 'cde' } },
    ingress: [rule],
  });

function side(...records: StoredRecord[]): Side {
  return of(stateWith(...records), NOW);
}

function of(state: NetworkState, at: number): Side {
  const compile = buildCompiler();
  return { state, at, reach: () => compile(state, at) };
}

describe('by hand', () => {
  test('an ALLOW from anywhere fails 1.3, and says which policy lets whom in', () => {
    const flips = flippedControls(side(base, card, web), side(base, card, web, allow({ from: ['*'] })), {});
    expect(flips.find(({ control }) => control === 'PCI-DSS-1.3')).toEqual({
      framework: 'pci-dss',
      control: 'PCI-DSS-1.3',
      title: expect.any(String),
      from: 'pass',
      to: 'fail',
      evidence: expect.stringMatching(/^rule 0 of grant \(.*\) lets anyone in to card-1 \(/),
    });
  });

  test('the way back mends what it broke, control by control', () => {
    const [good, bad] = [side(base, card, web), side(card, web, allow({ from: ['*'] }))];
    const there = flippedControls(good, bad, {});
    const back = flippedControls(bad, good, {});
    expect(there.length).toBeGreaterThan(1);
    expect(back.map(({ control, from, to }) => [control, to, from])).toEqual(
      there.map(({ control, from, to }) => [control, from, to]),
    );
  });

  test('two states of the same network flip nothing', () => {
    const one = side(base, card);
    expect(flippedControls(one, { ...one, state: { ...one.state, revision: 9 } }, {})).toEqual([]);
  });

  test('a key that grows old flips nothing: no change did that', () => {
    const { state } = side(base, card);
    expect(flippedControls(of(state, NOW), of(state, NOW + 900 * 86_400_000), {})).toEqual([]);
  });
});

describe('the frameworks that changes are judged by', () => {
  const frameworks = (compliance: ComplianceSettings | undefined, ...records: StoredRecord[]) =>
    frameworksInForce({ compliance }, side(...records).state.peers.values());

  test.each([
    ['none where no peer has data that a framework is about', undefined, [web], []],
    ['the one whose data a peer is labelled with', undefined, [card], ['pci-dss']],
    ['the one whose own label a peer has', { ephi: ['role=web'] }, [web], ['hipaa']],
    ['those that the settings name, and no others', { frameworks: ['soc2'] }, [card], ['soc2']],
    ['none where the settings name none', { frameworks: [] }, [card], []],
    [
      'those of a schedule too',
      { frameworks: [], schedules: { hipaa: { cadence: 'daily', enabled: true } } },
      [],
      ['hipaa'],
    ],
    ['not those of a schedule that is off', { schedules: { soc2: { cadence: 'daily', enabled: false } } }, [web], []],
  ] as const)('%s', (_title, compliance, records, expected) => {
    expect(frameworks(compliance as ComplianceSettings | undefined, ...records)).toEqual(expected);
  });
});

const compliance: ComplianceSettings = { cde: ['role=db'], ephi: ['role=bot'], sources: ['10.96.0.0/30'] };

/** What each control says of a state that is looked at alone, by the words of the page about results. */
function alone(state: NetworkState, at: number): ReadonlyMap<string, string> {
  return new Map(
    FRAMEWORKS.flatMap((framework) => {
      const { scope, subject, controls } = catalogOf(framework);
      const rule = scopeRule(scope, { compliance });
      const fixed = { rule, subject, sources: compliance.sources ?? [], reviewOf: () => undefined };
      const view = viewer(fixed)(state, at);
      return controls.flatMap(({ id, check: name, isOfContract }): [string, string][] => {
        const check = checkOf(name);
        if (check.on !== 'state' || check.atEachMoment) return [];
        const { holds } = check.judge(view);
        const status =
          holds === undefined ? (isOfContract ? 'pass' : 'insufficient_evidence') : holds ? 'pass' : 'fail';
        return [[`${framework} ${id}`, status]];
      });
    }),
  );
}

test('what flips between two states is exactly where judging each of them alone differs', async () => {
  let flipped = 0;
  await fc.assert(
    fc.asyncProperty(randomHistory, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), async (history, at) => {
      const { kit: played, workspace, began, end } = await playHistory(history);
      await using kit = played;
      const instants = at.map((offset) => began + (offset % (end - began)));
      const states = await Promise.all(instants.map((instant) => kit.services.states.asOf(workspace, { at: instant })));
      for (let index = 1; index < states.length; index += 1) {
        const sides = [index - 1, index].map((one) => ({ state: states[one], at: instants[one] ?? 0 }));
        const [a, b] = sides.map(({ state, at: instant }) => state && of(state, instant));
        if (!a || !b) throw new Error('a state is missing');
        const [was, is] = [alone(a.state, a.at), alone(b.state, b.at)];
        const expected = [...is].filter(([id, status]) => was.get(id) !== status);
        const found = flippedControls(a, b, { compliance }, FRAMEWORKS);
        expect(found.map(({ framework, control, to }) => [`${framework} ${control}`, to])).toEqual(expected);
        for (const { framework, control, from } of found) expect(from).toBe(was.get(`${framework} ${control}`));
        flipped += found.length;
      }
    }),
    { numRuns: 40 },
  );
  expect(flipped).toBeGreaterThan(100);
});
