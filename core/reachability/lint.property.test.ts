import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PolicySpec, policySpecSchema } from '../model/policy.ts';
import { compile } from './engine.ts';
import { type LintCode, lint, type Warning } from './lint.ts';
import { pairRows } from './matrix.ts';
import type { Direction, NetworkModel } from './model.ts';
import { networkModel, PROBES, textOf } from './models.testkit.ts';
import { naiveVerdict } from './naive.testkit.ts';

/** Addresses outside of the networks, on either side of each edge of the blocks that the kit has. */
const ADDRESSES = ['8.8.8.8', '203.0.113.1', '203.0.113.129', '203.0.113.200', '2001:db8::1'];
const USELESS: ReadonlySet<LintCode> = new Set(['RULE_IS_DENIED', 'RULE_IS_SHADOWED', 'RULE_MATCHES_NO_ONE']);

const withAddresses = (model: NetworkModel): NetworkModel => ({
  ...model,
  externals: ADDRESSES.map((range, index) => ({ name: `outside-${index}`, range })),
});
const rowsOf = (model: NetworkModel) => textOf(pairRows(compile(withAddresses(model))));

test('a rule that is called useless, and a policy that is called about nobody or ended, can go and no connection changes', () => {
  const seen = new Map<LintCode, number>();
  fc.assert(
    fc.property(networkModel, (drawn) => {
      const model = { ...drawn, externals: [] };
      for (const found of lint(compile(model))) {
        const isRule = USELESS.has(found.code);
        if (!isRule && found.code !== 'SELECTS_NO_PEER' && found.code !== 'POLICY_HAS_ENDED') continue;
        const policies = model.policies.flatMap((policy) => {
          if (policy.name !== found.policy) return [policy];
          const spec = isRule ? withoutRule(policySpecSchema.parse(policy.spec), found) : undefined;
          return spec ? [{ ...policy, spec }] : [];
        });
        expect([found, rowsOf({ ...model, policies })]).toEqual([found, rowsOf(model)]);
        seen.set(found.code, (seen.get(found.code) ?? 0) + 1);
      }
    }),
    { numRuns: 250 },
  );
  const codes: LintCode[] = [...USELESS, 'SELECTS_NO_PEER', 'POLICY_HAS_ENDED'];
  expect(codes.filter((code) => (seen.get(code) ?? 0) < 5)).toEqual([]);
}, 60_000);

test('all rules that are called shadowed can go at once, and no connection changes', () => {
  let seen = 0;
  fc.assert(
    fc.property(networkModel, (drawn) => {
      const model = { ...drawn, externals: [] };
      const twice = { ...model, policies: model.policies.flatMap((one) => [one, { ...one, name: `${one.name}-2` }]) };
      const shadowed = lint(compile(twice)).filter(({ code }) => code === 'RULE_IS_SHADOWED');
      seen += shadowed.length;
      const policies = twice.policies.flatMap((policy) => {
        const own = shadowed.filter((one) => one.policy === policy.name);
        const last = own.toSorted((a, b) => (b.rule_index ?? 0) - (a.rule_index ?? 0));
        const spec = last.reduce<PolicySpec | undefined>(
          (left, found) => left && withoutRule(left, found),
          policySpecSchema.parse(policy.spec),
        );
        return spec ? [{ ...policy, spec }] : [];
      });
      expect(rowsOf({ ...twice, policies })).toEqual(rowsOf(twice));
    }),
    { numRuns: 250 },
  );
  expect(seen).toBeGreaterThan(100);
}, 60_000);

test('a rule that is called contradicted allows something that each DENY it names takes away', () => {
  let seen = 0;
  fc.assert(
    fc.property(networkModel, (drawn) => {
      const model = { ...drawn, externals: [] };
      for (const found of lint(compile(model)).filter(({ code }) => code === 'RULE_IS_CONTRADICTED')) {
        const [own, ...denying] = found.policies;
        expect(own).toBe(found.policy);
        expect(denying.length).toBeGreaterThan(0);
        for (const name of denying) expect([found, name, isTaken(model, found, name)]).toEqual([found, name, true]);
        seen += 1;
      }
    }),
    { numRuns: 700 },
  );
  expect(seen).toBeGreaterThan(9);
}, 60_000);

function withoutRule(spec: PolicySpec, { direction, rule_index: index }: Warning): PolicySpec | undefined {
  if (direction === null || index === null) return spec;
  const rules = (direction === 'ingress' ? spec.ingress : spec.egress)?.toSpliced(index, 1) ?? [];
  const rest = { ...spec };
  delete rest[direction];
  // An ALLOW goes on isolating without rules; a DENY would begin to.
  if (spec.action === 'ALLOW' || rules.length > 0) return { ...rest, [direction]: rules };
  return rest.ingress || rest.egress ? rest : undefined;
}

/** Whether the one rule alone lets something through that the one DENY then takes away, read from the text of the page. */
function isTaken(model: NetworkModel, { policy, direction, rule_index: index }: Warning, denying: string): boolean {
  const [own, deny] = [policy, denying].map((name) => model.policies.find((one) => one.name === name)?.spec);
  if (direction === null || index === null || !own || !deny) return false;
  const only = onlyRule(policySpecSchema.parse(own), direction, (at) => at === index);
  const its = onlyRule(policySpecSchema.parse(deny), direction, () => true);
  const peers = model.peers.map(({ bound: _, expiresAt: _until, phase: _phase, ...peer }) => peer);
  const networks = model.networks.map((network) => ({ ...network, defaultAction: 'ALLOW' as const }));
  const alone = withAddresses({ ...model, networks, peers, policies: [{ name: policy, spec: only }] });
  const both = { ...alone, policies: [...alone.policies, { name: denying, spec: its }] };
  const names = [...peers.map(({ name }) => name), ...(alone.externals ?? []).map(({ name }) => name)];
  return names.some((src) =>
    names.some(
      (dst) =>
        src !== dst &&
        PROBES.some((probe) => naiveVerdict(alone, src, dst, ...probe) && !naiveVerdict(both, src, dst, ...probe)),
    ),
  );
}

function onlyRule(spec: PolicySpec, direction: Direction, keeps: (index: number) => boolean): PolicySpec {
  const { ingress, egress, expiresAt: _, ...rest } = spec;
  if (direction === 'ingress') return { ...rest, ingress: (ingress ?? []).filter((_rule, at) => keeps(at)) };
  return { ...rest, egress: (egress ?? []).filter((_rule, at) => keeps(at)) };
}
