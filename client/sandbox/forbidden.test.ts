import { expect, it } from 'vitest';
import { forbiddenBy, type NamespaceFacts } from './forbidden.ts';

const USER: NamespaceFacts = { isRoot: false, hasPrograms: true, settings: {}, isFiltered: false };
const ROOT = { ...USER, isRoot: true };

it('names the setting, the profile, the filter or the program that forbids namespaces, and what permits them', () => {
  const said = 'unshare: unshare failed: Operation not permitted';
  const of = (more: Partial<NamespaceFacts>, facts = USER) => forbiddenBy({ ...facts, ...more }, said);
  const none = { 'user/max_user_namespaces': '0' };
  expect(of({ settings: none })).toBe(
    'user.max_user_namespaces is 0. Permit them: sudo sysctl user.max_user_namespaces=10000',
  );
  expect(of({ settings: { 'kernel/unprivileged_userns_clone': '0' } })).toContain('kernel.unprivileged_userns_clone=1');
  expect(of({ settings: { 'kernel/apparmor_restrict_unprivileged_userns': '1' } })).toContain('AppArmor');
  expect(of({ isFiltered: true })).toContain('seccomp=unconfined');
  expect(of({ isFiltered: true }, ROOT)).toContain('--cap-add SYS_ADMIN');
  expect(of({ hasPrograms: false })).toContain('apt-get install util-linux');
  expect([of({}), of({}, ROOT)]).toEqual([expect.stringContaining(said), expect.stringContaining('CAP_SYS_ADMIN')]);
  // Root makes none.
  expect(of({ settings: none }, ROOT)).not.toContain('max_user_namespaces');
});
