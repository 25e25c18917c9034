import { expect, test } from 'vitest';
import { z } from 'zod';
import { manifestSchemas } from '../core/changes/manifest.ts';
import { ruleManifest } from '../core/identity/rule-manifest.ts';
import { egressRuleSchema, ingressRuleSchema, policySpecSchema } from '../core/model/policy.ts';
import { MAX_RULES_WEIGHT } from '../core/model/rule-list.ts';
import { operations } from '../tools/index.ts';
import { walkSchema } from './walk-schema.ts';

const lists = [
  ...operations.map(({ name, input }) => [name, input] as const),
  ...Object.entries(manifestSchemas),
  ['WorkloadRule', ruleManifest] as const,
].flatMap(([name, schema]) =>
  [...walkSchema(schema)].flatMap(({ pointer, schema: list }) => {
    const rule = list instanceof z.ZodArray ? list.element : undefined;
    if (rule !== ingressRuleSchema && rule !== egressRuleSchema) return [];
    return [{ place: `${name}${pointer}`, list: list as z.ZodArray, end: rule === egressRuleSchema ? 'to' : 'from' }];
  }),
);

const repeated = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const web = { peerSelector: { matchLabels: { role: 'web' } } };
const ports = repeated(20, { port: 443 });
const MORE = MAX_RULES_WEIGHT + 1;
/** One more than the limit, of each thing that counts. */
const TOO_MANY: Readonly<Record<string, (end: string) => object[]>> = {
  entries: (end) => [{ [end]: repeated(MORE, web) }],
  ports: () => [{ ports: repeated(MORE, { port: 443 }) }],
  'entries and ports together': (end) => [
    ...repeated(99, { [end]: repeated(10, web), ports }),
    { [end]: repeated(11, web), ports },
  ],
  exceptions: (end) => [{ [end]: [{ ipBlock: { cidr: '10.0.0.0/8', except: repeated(MORE, '10.1.0.0/16') } }] }],
  peers: (end) => [{ [end]: [{ peerSelector: { peers: repeated(MORE, 'web-1') } }] }],
  'peers left out': (end) => [{ [end]: [{ peerSelector: { notPeers: repeated(MORE, 'web-1') } }] }],
  values: (end) => [
    {
      [end]: [{ peerSelector: { matchExpressions: [{ key: 'role', operator: 'In', values: repeated(MORE, 'web') }] } }],
    },
  ],
};

test('the lists of rules of policies, agents and sub-agents are found', () => {
  const found = lists.map(({ place }) => place);
  for (const place of ['create_policy/spec/ingress', 'create_agent/reach', 'delegate_agent/egress']) {
    expect(found).toContain(place);
  }
});

test.each(Object.keys(TOO_MANY))('every list of rules that a request carries is refused with too many %s', (what) => {
  const accepted = lists.filter(({ list, end }) => {
    const issues = list.safeParse(TOO_MANY[what]?.(end)).error?.issues ?? [];
    return !issues.some(({ message }) => message.includes('3,000 entries and ports together'));
  });
  expect(accepted.map(({ place }) => place)).toEqual([]);
});

test('every list of rules takes 100 rules with 10 entries and 20 ports each', () => {
  expect(100 * (10 + ports.length)).toBe(MAX_RULES_WEIGHT);
  const refused = lists.filter(({ list, end }) => {
    return !list.safeParse(repeated(100, { [end]: repeated(10, web), ports })).success;
  });
  expect(refused.map(({ place }) => place)).toEqual([]);
});

test('what is too much is refused before any rule is checked', () => {
  const rules = [{ ports: repeated(MORE, { port: 'no port' }) }];
  for (const { list } of lists) expect(list.safeParse(rules).error?.issues).toHaveLength(1);
});

test('a stored policy of an earlier version with more rules than may be sent stays readable', () => {
  const ingress = TOO_MANY['entries']?.('from');
  expect(policySpecSchema.safeParse({ action: 'ALLOW', ingress }).success).toBe(true);
});
