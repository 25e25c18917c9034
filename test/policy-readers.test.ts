import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { isTestFile } from './import-rules.ts';

/** Files that take `ingress` or `egress` from an object, beside the one that knows their meaning, and why. */
const OTHERS = {
  'compiled policies, and what is open in each direction': [
    ...['externals', 'outside-access', 'projection', 'reach-diff', 'rows'].map(
      (name) => `core/reachability/${name}.ts`,
    ),
    'core/history/row-cells.ts',
    ...['exposure', 'isolation', 'services'].map((name) => `core/compliance/checks/${name}.ts`),
  ],
  'rules of an agent': [
    ...['agent-manifest', 'agents'].map((name) => `core/identity/${name}.ts`),
    ...['agent-reach', 'label-sets'].map((name) => `core/authority/${name}.ts`),
    'core/enrolment/enrol-delegate.ts',
    'core/views/agent-view.ts',
    ...['reach.tsx', 'words.ts'].map((name) => `web/src/pages/agents/${name}`),
  ],
  'what a rule for workloads grants': [
    'core/authority/decisions.ts',
    'core/enrolment/enrolment.ts',
    ...['join-tokens', 'rule-manifest'].map((name) => `core/identity/${name}.ts`),
    'core/model/presets.ts',
    'core/views/workload-rule.ts',
    ...['generate-join-token', 'join-token-view'].map((name) => `tools/tokens/${name}.ts`),
    ...['join-tokens.tsx', 'workload-fields.tsx', 'workload-request.ts'].map((name) => `web/src/pages/join/${name}`),
  ],
  'destinations on the internet that a sandbox opens': [
    ...['openings', 'sandbox-process'].map((name) => `client/sandbox/${name}.ts`),
    'cli/node-sandbox.ts',
  ],
  'what comes in and goes out by a library': ['rest/scim/resources.ts'],
  'a policy as it is written, in a form, an intent or a part that stands': [
    'core/authority/expiry-views.ts',
    'web/src/pages/policies/',
  ],
};

test('a policy is read by core/model/policy-match.ts alone, which knows what an absent and an empty direction mean', () => {
  const files = globSync('{core,tools,rest,mcp,plane,cli,client,llm,web/src}/**/*.{ts,tsx}').filter(
    (file) => !isTestFile(file),
  );
  const reading = files.filter((file) => readsRules(file, readFileSync(file, 'utf8')));
  const others = Object.values(OTHERS).flat();
  const isOther = (file: string) => others.some((place) => file.startsWith(place));
  expect(reading.filter((file) => !isOther(file))).toEqual(['core/model/policy-match.ts']);
  expect(others.filter((place) => !reading.some((file) => file.startsWith(place)))).toEqual([]);
});

test('a file that takes the rules of a direction is found, and one that writes them is not', () => {
  const reads = ['spec.ingress', "spec?.['egress']", 'const { egress = [] } = spec;', 'function f({ ingress }) {}'];
  expect(reads.filter((source) => !readsRules('a.ts', source))).toEqual([]);
  expect(readsRules('a.ts', "write({ ingress: [], egress }, 'ingress');")).toBe(false);
});

function readsRules(file: string, source: string): boolean {
  const isDirection = (node: object) =>
    ('name' in node && (node.name === 'ingress' || node.name === 'egress')) ||
    ('value' in node && (node.value === 'ingress' || node.value === 'egress'));
  let found = false;
  new Visitor({
    MemberExpression: ({ property }) => {
      found ||= isDirection(property);
    },
    ObjectPattern: ({ properties }) => {
      found ||= properties.some((one) => one.type === 'Property' && isDirection(one.key));
    },
  }).visit(parseSync(file, source).program);
  return found;
}
