import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../../test/kits/plane/identity-kit.ts';
import { SYSTEM_WORKSPACE } from '../../base/ids.ts';
import { draftOf } from '../../base/record.ts';
import { FACTS } from '../facts.ts';

const WHY = { actor: 'system:test', reason: 'test', requestId: 'r_test' };
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

test('a second factor is asked of members and platform administrators, and nobody else is counted or named', async () => {
  await using kit = await buildPeopleKit();
  const { store } = kit.services;
  await kit.person('mallory', 'admin', await kit.workspace('elsewhere'));
  const context = { services: kit.services, workspace: kit.prod, at: kit.clock.now() };
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Account');
  const uidOf = (name: string) => items.find((account) => account.name === name)?.uid ?? '';
  const before = await FACTS['second-factor'](context);
  expect(before).toMatchObject({ holds: false, evidence: expect.stringContaining('3 accounts') });
  for (const name of ['admin', 'ada', 'vic']) expect(before.evidence).toContain(`${name} (${uidOf(name)})`);
  expect(before.evidence).not.toMatch(new RegExp(`mallory|${uidOf('mallory')}`));
  for (const account of items.filter(({ name }) => name !== 'mallory')) {
    const spec = { ...account.spec, secondFactor: { secret: '', since: 0, lastStep: 0, recovery: [] } };
    const record = { ...draftOf(account), spec };
    await store.commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision: account.revision }], WHY);
  }
  expect(await FACTS['second-factor'](context)).toMatchObject({ holds: true, remedy: '' });
  expect(await FACTS['password-age'](context)).toMatchObject({ holds: true, remedy: '' });
});

test.each([
  ['idle-sessions', { idleMs: 15 * MINUTE_MS }, { idleMs: 16 * MINUTE_MS }],
  ['lock-out', { lockAfter: 10 }, { lockAfter: 11 }],
  ['lock-out', { lockMs: 30 * MINUTE_MS }, { lockMs: 29 * MINUTE_MS }],
  ['password-length', { passwordLength: 12 }, { passwordLength: 11 }],
  ['password-age', { passwordMaxAgeMs: 90 * DAY_MS }, { passwordMaxAgeMs: 91 * DAY_MS }],
] as const)('%s holds with %j and not with %j', async (name, good, bad) => {
  await using kit = await buildPeopleKit();
  const told = async (rules: object) => {
    const { settings } = kit.services;
    const services = { ...kit.services, settings: { ...settings, signIn: { ...settings.signIn, ...rules } } };
    return (await FACTS[name]({ services, workspace: kit.prod, at: kit.clock.now() })).holds;
  };
  expect([await told(good), await told(bad)]).toEqual([true, false]);
});
