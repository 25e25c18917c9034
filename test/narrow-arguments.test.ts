import { expect, test } from 'vitest';
import { parseChanges } from '../core/intent/plan/change-input.ts';
import { givenArguments } from '../mcp/given-arguments.ts';
import { operations } from '../tools/index.ts';

const WEB = [{ peerSelector: { matchLabels: { role: 'web' } } }];
const PORT = [{ port: 443 }];

/** Rules in which one part says nothing: without that part they would allow more. */
const RULES = [
  {},
  { peers: null, ports: PORT },
  { peers: '', ports: PORT },
  { peers: [{ peerSelector: { matchLabels: null } }], ports: PORT },
  { peers: [{ peerSelector: { peers: '' } }], ports: PORT },
  { peers: [{ peerSelector: { peers: null } }], ports: PORT },
  { peers: WEB, ports: null },
  { peers: WEB, ports: '' },
  { peers: WEB, ports: [{ port: '' }] },
  { peers: WEB, ports: [{ protocol: 'TCP', port: null }] },
];
const ruleOf = ({ peers, ...rest }: { readonly peers?: unknown }, end: 'from' | 'to') =>
  peers === undefined ? rest : { [end]: peers, ...rest };

function reads(tool: string, args: Record<string, unknown>): boolean {
  const operation = operations.find(({ name }) => name === tool);
  if (!operation) throw new TypeError(`There is no tool ${tool}.`);
  const { success, data } = operation.input.safeParse(givenArguments(operation)(args));
  try {
    // Policies within changes are read later.
    if (success && data['changes'] !== undefined) parseChanges(data['changes'] as never);
    return success;
  } catch {
    return false;
  }
}

const CHILD = { id: 'self', subAgentName: 'child', ttl: '5m', policyPreset: 'sandboxed' };
const SPEC = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } } };
const change = (spec: unknown) => ({
  intent: 'let web in',
  changes: [{ action: 'create', resource: 'MeshPolicy', name: 'web-to-db', spec }],
});
const ORDER = { do: 'allow', from: ['web'], to: ['db'], ports: ['tcp/443'] };

test.each(RULES)('a rule with a part that says nothing is refused, and never read as a wider one: %j', (rule) => {
  expect(reads('delegate_agent', { ...CHILD, egress: rule })).toBe(false);
  if (Object.keys(rule).length === 0) return;
  expect(reads('delegate_agent', { ...CHILD, egress: [ruleOf(rule, 'to')] })).toBe(false);
  expect(reads('plan_network_change', change({ ...SPEC, ingress: [ruleOf(rule, 'from')] }))).toBe(false);
});

test.each([
  { ...SPEC, ingress: {} },
  { ...SPEC, ingress: null },
  { ...SPEC, ingress: '' },
  { ...SPEC, peerSelector: { peers: '' }, ingress: [] },
  { ...SPEC, peerSelector: { matchLabels: null }, ingress: [] },
  { ...SPEC, ingress: [], expiresAt: '' },
  { ...SPEC, ingress: [], expiresAt: null },
  { ...SPEC, ingress: [], network: null },
])('a policy with a field that says nothing is refused: %j', (spec) => {
  expect(reads('plan_network_change', change(spec))).toBe(false);
});

test('a rule as it is meant is read, as a list and as JSON text', () => {
  const egress = [{ to: WEB, ports: PORT }];
  expect(reads('delegate_agent', { ...CHILD, egress })).toBe(true);
  expect(reads('delegate_agent', { ...CHILD, egress: JSON.stringify(egress) })).toBe(true);
});

test('an order takes null for a field that is not given, and no empty list of ports', () => {
  expect(reads('plan_network_change', { orders: [{ ...ORDER, except_from: null, until: null, side: null }] })).toBe(
    true,
  );
  for (const ports of [[], '', [''], [null]])
    expect(reads('plan_network_change', { orders: [{ ...ORDER, ports }] })).toBe(false);
});
