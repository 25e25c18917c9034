import { expect, test } from 'vitest';
import { completions, portCompletions, vocabularyOf } from '../../web/src/pages/change/completions.ts';
import { draftOf } from '../../web/src/pages/change/draft.ts';
import { faultsByRow, missingIn, orderOf, rowOf, typedTime } from '../../web/src/pages/change/order-rows.ts';

const WEB = { do: 'allow' as const, from: ['role=web'], to: ['db-1'] };
const asOrder = (order: object) => orderOf(rowOf(order));

test('an order becomes a row and the same order again', () => {
  for (const order of [
    WEB,
    { ...WEB, ports: ['tcp/5432', '!tcp/22'], for: '2h', both_ways: true },
    { ...WEB, until: '2030-01-31T18:00', except_from: ['web-1'], except_to: ['db-2'] },
    { ...WEB, do: 'only', side: 'from' },
    { ...WEB, starts: '2030-01-31T08:00', for: '2h' },
    { ...WEB, through: ['no-lab'] },
  ])
    expect(asOrder(order)).toEqual(order);
});

test('instants of an order are edited by the clocks of the workspace, unless these show the time twice', () => {
  const order = { ...WEB, starts: '2030-07-31T06:00:00Z', until: '2030-07-31T06:00:30Z' };
  expect(rowOf(order, 'Europe/Zurich')).toMatchObject({ starts: '2030-07-31T08:00', end: '2030-07-31T08:00:30' });
  const second = '2030-10-27T01:30:00Z';
  expect(rowOf({ ...WEB, starts: second }, 'Europe/Zurich').starts).toBe(second);
  expect(rowOf(order).starts).toBe(order.starts);
});

test.each([
  ['2030-07-31T08:00', '2030-07-31T06:00:00.000Z'],
  [' 2030-01-31T08:00:30 ', '2030-01-31T07:00:30.000Z'],
  ['2030-07-31T08:00Z', '2030-07-31T08:00:00.000Z'],
  ['2030-07-31T08:00+05:00', '2030-07-31T03:00:00.000Z'],
  ['2h', undefined],
  ['Tuesday', undefined],
  ['', undefined],
])('%j is typed for %j by the clocks of Zurich', (text, at) => {
  expect(typedTime(text, 'Europe/Zurich')).toBe(at);
});

test('a row sends nothing that its action does not take', () => {
  expect(asOrder({ ...WEB, do: 'only', both_ways: true, side: 'to' })).toEqual({ ...WEB, do: 'only' });
  expect(asOrder({ ...WEB, do: 'remove', starts: '2030-01-31T08:00', for: '2h', side: 'from' })).toEqual({
    ...WEB,
    do: 'remove',
  });
});

test('a row of a draft without an action starts with none, and is not sent before one is chosen', () => {
  const row = rowOf({ from: ['role=web'], to: ['db-1'], ports: [] });
  expect(row.do).toBe('');
  expect(missingIn(row)).toEqual({ do: ['Choose an action.'] });
  expect(missingIn({ ...row, do: 'deny' })).toEqual({});
  expect(rowOf().do).toBe('allow');
});

test('a row without one of its ends says which, and faults of a refusal stand at their row and field', () => {
  expect(Object.keys(missingIn(rowOf({ do: 'deny', to: ['db-1'] })))).toEqual(['from']);
  expect(missingIn(rowOf(WEB))).toEqual({});
  const fault = (pointer: string, detail: string) => ({ pointer, detail });
  const faults = [
    fault('/orders/1/to/0', 'a'),
    fault('/orders/1/to/1', 'b'),
    fault('/orders/0', 'c'),
    fault('/orders/2/until', 'd'),
    fault('/orders/3/for', 'f'),
    fault('/intent', 'e'),
  ];
  expect(Object.fromEntries(faultsByRow(faults))).toEqual({
    0: { from: ['c'] },
    1: { to: ['a', 'b'] },
    2: { end: ['d'] },
    3: { end: ['f A time is written 2030-01-31T18:00.'] },
  });
});

test('a refusal gives its draft with near names, or one empty order', () => {
  const near = [{ word: 'storefront', names: ['web-1'] }];
  const draft = { orders: [{ do: 'deny', from: [], to: ['db-1'] }] };
  expect(draftOf({ more: { draft, vocabulary: { near } } })).toEqual({
    orders: draft.orders,
    near: [{ word: 'web-1', about: 'near “storefront”' }],
  });
  expect(draftOf({ more: {} })).toEqual({ orders: [{}], near: [] });
});

test('labels, networks and peers complete a word; after a comma another label', () => {
  const peers = [
    { name: 'web-1', labels: { role: 'web', env: 'prod' } },
    { name: 'web-2', labels: { role: 'web' } },
  ];
  const words = vocabularyOf(peers, ['lab']);
  const wordsFor = (text: string) => completions(text, words).map(({ word }) => word);
  expect(words.find(({ word }) => word === 'role=web')?.about).toBe('2 peers');
  expect(wordsFor('web')).toEqual(['web-1', 'web-2', 'role=web']);
  expect(wordsFor('role=web,')).toEqual(['role=web,role=web', 'role=web,env=prod', 'role=web,network=lab']);
  expect(wordsFor('out')).toEqual(['outside']);
  expect(portCompletions('!ss').map(({ word }) => word)).toEqual(['!tcp/22']);
});
