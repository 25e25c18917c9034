import fc from 'fast-check';
import { expect, test } from 'vitest';
import { playHistory, randomHistory } from '../../test/kits/plane/random-history.ts';
import { formatInstant } from '../base/time.ts';
import type { WorkspaceSettings } from '../model/workspaces.ts';
import { assessPeriod } from './assess.ts';
import { catalogOf } from './catalog.ts';
import { checkOf } from './checks/index.ts';
import type { FailingInterval } from './control-result.ts';
import { scopeRule } from './scope.ts';
import { viewer } from './sweep.ts';

const compliance: WorkspaceSettings['compliance'] = { cde: ['role=db'], sources: ['10.96.0.0/30'] };

const FRAMEWORKS = [
  ['pci-dss', 'cde'],
  ['soc2', 'everyone'],
] as const;

/** The controls that are judged by states alone; who reviewed a policy is asked of its commit. */
function controlsOf(framework: (typeof FRAMEWORKS)[number][0]) {
  return catalogOf(framework).controls.filter(({ check }) => {
    return checkOf(check).on === 'state' && check !== 'running-as-approved';
  });
}

/** Checks that pass and fail in what is drawn, so that the property says something of them. */
const JUDGED_BOTH_WAYS = [
  'deny-all-base',
  'not-public',
  'explicit-inbound',
  'explicit-outbound',
  'no-other-sources',
  'no-insecure-services',
  'least-reach',
  'ended-agents-gone',
];

/** What a check says of the state at an instant and nothing else: read and compiled for it alone. */
async function alone(
  { kit, workspace }: Awaited<ReturnType<typeof playHistory>>,
  scope: 'cde' | 'everyone',
  check: string,
  at: number,
) {
  const { states } = kit.services;
  const state = await states.asOf(workspace, { at });
  const rule = scopeRule(scope, { compliance });
  const fixed = { rule, subject: 'cardholder', sources: compliance?.sources ?? [], reviewOf: () => undefined };
  const own = checkOf(check as never);
  return own.on === 'state' ? own.judge(viewer(fixed)(state, at)).holds : undefined;
}

function failsAt(failing: readonly FailingInterval[], at: string): boolean {
  // What failed within an instant, by one of several revisions of it, is told besides.
  return failing.some(({ from, to }) => from <= at && at < to);
}

test('a control fails at an instant exactly when its check on the state of that instant alone does', async () => {
  const seen = new Map(JUDGED_BOTH_WAYS.map((check): [string, Set<boolean>] => [check, new Set()]));
  await fc.assert(
    fc.asyncProperty(randomHistory, async (history) => {
      const played = await playHistory(history);
      await using kit = played.kit;
      const { workspace, began, end } = played;
      const person = kit.person('admin', workspace);
      await kit.call('update_workspace', { settings: { compliance } }, { as: person, workspace });
      for (const [framework, scope] of FRAMEWORKS) {
        const asked = { framework, from: formatInstant(began), to: formatInstant(end) } as const;
        const { controls } = await assessPeriod(kit.services, workspace, asked);
        for (const { id, check } of controlsOf(framework)) {
          const result = controls.find((one) => one.id === id);
          let hasFailed = false;
          for (let at = began + 1_000; at < end; at += 500) {
            const holds = await alone(played, scope, check, at);
            hasFailed ||= holds === false;
            const isFailing = failsAt(result?.failing ?? [], formatInstant(at));
            if (result?.omitted_failing === 0)
              expect([id, at - began, isFailing]).toEqual([id, at - began, holds === false]);
            if (holds !== undefined) seen.get(check)?.add(holds);
          }
          if (hasFailed) expect([id, result?.status]).toEqual([id, 'fail']);
        }
      }
    }),
    { numRuns: 25 },
  );
  expect([...seen].filter(([, answers]) => answers.size < 2)).toEqual([]);
});
