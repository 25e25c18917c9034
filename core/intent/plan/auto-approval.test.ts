import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../model/workspaces.ts';
import { type AutoApprovalFacts, isAutoApproved } from './auto-approval.ts';

const ORDERS_OF_AN_AGENT: AutoApprovalFacts = {
  check: 'not checked',
  readBy: 'agent',
  askedBy: 'agent',
  riskLevel: 'low',
  objections: [],
  isUnseen: false,
  isAsked: false,
  failsControls: false,
  isPublic: false,
};
type AutoApprove = NonNullable<(typeof DEFAULT_SETTINGS)['autoApprove']>;
const isApproved = (more: Partial<AutoApprovalFacts>, autoApprove: AutoApprove) =>
  isAutoApproved({ ...ORDERS_OF_AN_AGENT, ...more }, { ...DEFAULT_SETTINGS, autoApprove });

test('without from, a plan has to match a sentence that was read', () => {
  expect(isApproved({}, { maxRisk: 'low' })).toBe(false);
  expect(isApproved({ check: 'matches' }, { maxRisk: 'low' })).toBe(true);
  expect(isApproved({ check: 'matches', riskLevel: 'medium' }, { maxRisk: 'low' })).toBe(false);
  expect(isAutoApproved({ ...ORDERS_OF_AN_AGENT, check: 'matches' }, DEFAULT_SETTINGS)).toBe(false);
});

test('with from, orders without a sentence are enough, where the requester is named', () => {
  expect(isApproved({}, { maxRisk: 'low', from: ['agent'] })).toBe(true);
  expect(isApproved({}, { maxRisk: 'low', from: ['person'] })).toBe(false);
  expect(isApproved({ askedBy: 'person' }, { maxRisk: 'low', from: ['person', 'agent'] })).toBe(true);
  expect(isApproved({ askedBy: undefined }, { maxRisk: 'low', from: ['person', 'agent'] })).toBe(false);
});

test.each<[string, Partial<AutoApprovalFacts>]>([
  ['differs from its sentence', { check: 'differs' }],
  ['was read by a model', { readBy: 'model', check: 'matches' }],
  ['has an objection', { objections: ['no'] }],
  ['does what the effect does not show', { isUnseen: true }],
  ['has an open question', { isAsked: true }],
  ['fails a control', { failsControls: true }],
  ['routes a public block', { isPublic: true }],
])('a plan that %s waits for a person, whatever from says', (_what, facts) => {
  expect(isApproved(facts, { maxRisk: 'critical', from: ['person', 'agent'] })).toBe(false);
});
