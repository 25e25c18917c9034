import { expect, test } from 'vitest';
import { type CheckedPlan, checkStatements } from './check-statements.ts';

const ORDERS = [{ do: 'allow' as const, from: ['web-1'], to: ['db-1'] }];
const ORDERED = ['matches', 'Effect matches the orders.'];
const DEMANDS = ['matches', 'The effect meets the demands that came with the changes.'];
const UNCONFIRMED = [
  'not checked',
  'The built-in reader cannot confirm that the sentence says the same. Review the orders yourself.',
];
const CHANGES = [
  'not checked',
  'The built-in reader cannot confirm that the changes are what the sentence asks for. Review them yourself.',
];
const OPEN = ['not checked', 'A question is open, or a part of the effect is not known. Review it yourself.'];
const SAME = ['matches', 'Effect matches the orders. The sentence says the same.'];
const OTHER = ['differs', 'Effect matches the orders. The sentence says something else than the orders.'];

test.each<[string, Partial<CheckedPlan>, boolean, string[][]]>([
  ['orders without a sentence', { orders: ORDERS, expectations_hold: true }, false, [ORDERED]],
  [
    'orders beside a sentence that is not read',
    { orders: ORDERS, expectations_hold: true },
    true,
    [ORDERED, UNCONFIRMED],
  ],
  ['orders of a model', { orders: ORDERS, read_by: 'model' }, false, [ORDERED, UNCONFIRMED]],
  ['a sentence with a question', { orders: ORDERS, read_by: 'language' }, false, [ORDERED, OPEN]],
  ['a sentence against the orders', { orders: ORDERS, check: 'differs', expectations_hold: true }, true, [OTHER]],
  ['a sentence that was read', { orders: ORDERS, check: 'matches', read_by: 'language' }, false, [ORDERED]],
  ['orders and a sentence alike', { orders: ORDERS, check: 'matches', expectations_hold: true }, true, [SAME]],
  ['finished changes', {}, false, [CHANGES]],
  ['finished changes with demands', { expectations_hold: true }, false, [DEMANDS, CHANGES]],
])('of %s each thing that was checked, or was not, is told with its own word', (_, plan, isQuoted, expected) => {
  const of = { check: 'not checked', expectations_hold: null, read_by: 'agent', ...plan } as const;
  const told = checkStatements(of, isQuoted, false);
  expect(told.map(({ check, text }) => [check, text])).toEqual(expected);
});

test('orders of a model of which one is not met are not said to match', () => {
  const of = { orders: ORDERS, check: 'not checked', expectations_hold: null, read_by: 'model' } as const;
  const told = checkStatements(of, false, true).map(({ check, text }) => [check, text]);
  expect(told).toEqual([['differs', 'What stands below speaks against it.'], UNCONFIRMED]);
});
