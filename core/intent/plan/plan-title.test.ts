import { expect, test } from 'vitest';
import type { Order } from '../orders/order.ts';
import { ordersTitle } from './plan-title.ts';

const ORDER: Order = { do: 'allow', from: ['p_a'], to: ['p_b'], text: '' };
const ZONE = 'America/Argentina/ComodRivadavia';
const begin = `beginning Sunday 2027-01-31 08:00 ${ZONE} (2027-01-31T11:00:00Z)`;
const end = `until Wednesday 2027-02-03 18:30 ${ZONE} (2027-02-03T21:30:00Z)`;
const times = { startsAt: '2027-01-31T11:00:00.000Z', expiresAt: '2027-02-03T21:30:00.000Z' };

test('a title says in full when an order begins and ends, whatever the length of the zone and of the names', () => {
  const short = 'allow web-1 to db-1';
  const long = `allow ${'web-1, '.repeat(40)}web-2 to db-1`;
  const titles = [short, long].map((who) => ordersTitle([{ ...ORDER, ...times, text: `${who} ${begin} ${end}` }]));
  expect(titles).toEqual([`Allow web-1 to db-1 ${begin} ${end}`, `A${long.slice(1, 160)}… ${begin} ${end}`]);
  expect(ordersTitle([{ ...ORDER, expiresAt: times.expiresAt, text: `${long} ${end}` }])).toMatch(`… ${end}`);
  expect(ordersTitle([{ ...ORDER, text: long }])).toBe(`A${long.slice(1, 160)}…`);
});
