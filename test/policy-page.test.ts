import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { networkSpecSchema } from '../core/model/network-spec.ts';
import { type Protocol, policySpecSchema, selectorSchema } from '../core/model/policy.ts';
import { LINT_CODES } from '../core/reachability/lint.ts';
import { REASON_CODES } from '../core/reachability/reasons.ts';
import { simulate, simulateInputSchema } from '../core/reachability/simulate.ts';
import { namesIn, rowsOf, sectionsOf } from './kits/process/page-blocks.ts';

const PAGE = 'docs/policy.md';
const sections = sectionsOf(PAGE);
const examples = sections.flatMap(({ heading, text }) => {
  const [, yaml] = /```yaml\n(network:.*?)```/s.exec(text) ?? [];
  return yaml === undefined ? [] : [{ heading, yaml, rows: rowsOf(text) }];
});

test('the page has an example of each rule of precedence', () => {
  const reasons = examples.flatMap(({ rows }) => rows.map(([, , , , why = '']) => why.split(' by ')[0]));
  expect(reasons).toEqual(
    expect.arrayContaining([
      'INGRESS_DENIED_BY_RULE',
      'ALLOWED_BY_RULE',
      'INGRESS_ISOLATED',
      'EGRESS_ISOLATED',
      'INGRESS_PORT_MISMATCH',
      'ALLOWED_BY_DEFAULT',
      'DENIED_BY_DEFAULT',
      'SELF_TRAFFIC',
    ]),
  );
});

test.each(examples)('$heading: what holds in the network of the page is what its table says', ({ yaml, rows }) => {
  const queries = rows.map(([src, dst, what = '']) => {
    const [protocol, port] = what === 'everything' ? [] : what.split(' ');
    return { src, dst, ...(protocol && { protocol }), ...(port && { port: Number(port) }) };
  });
  const input = simulateInputSchema.parse({ ...(load(yaml) as object), queries });
  const { verdicts = [] } = simulate(input, Date.parse('2026-01-31T12:00:00Z'));
  const found = verdicts.map(({ src, dst, protocol, port, verdict, reason_code, policy, rule_index }) => {
    const decider = policy === null ? '' : ` by ${policy}${rule_index === null ? '' : ` rule ${rule_index}`}`;
    return [src, dst, whatOf(protocol, port), verdict, `${reason_code}${decider}`];
  });
  expect(found).toEqual(rows);
  expect(rows).not.toEqual([]);
});

function whatOf(protocol: Protocol | undefined, port: number | undefined): string {
  if (protocol === undefined) return 'everything';
  return port === undefined ? protocol : `${protocol} ${port}`;
}

test('the tables of the page have every field of a network, a policy and a selector, and no other', () => {
  const keys = ({ shape }: { readonly shape: object }) => Object.keys(shape).toSorted();
  expect(namesIn(PAGE, 'MeshNetwork', 'Field')).toEqual(keys(networkSpecSchema));
  expect(namesIn(PAGE, 'Selectors', 'Field')).toEqual(keys(selectorSchema));
  const inRules = ['from', 'ports', 'to'];
  expect(namesIn(PAGE, 'MeshPolicy', 'Field of `spec`')).toEqual([...keys(policySpecSchema), ...inRules].toSorted());
});

test('the page names every reason of a verdict and every warning about a policy, and no other', () => {
  const text = sections.find(({ heading }) => heading === 'Reasons and warnings')?.text ?? '';
  const named = rowsOf(text).flatMap(([codes = '']) => [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code));
  expect(named.toSorted()).toEqual([...REASON_CODES, ...LINT_CODES].toSorted());
});
