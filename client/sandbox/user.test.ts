import { expect, it } from 'vitest';
import { sandboxEnvironment, sandboxUser } from './user.ts';

const ROOT = { uid: 0, gid: 0 };
const NOBODY = { uid: 65_534, gid: 65_534 };

it('runs as its caller, for root as the user behind sudo, and never as root', () => {
  expect(sandboxUser({ uid: 1000, gid: 1001 }, { SUDO_UID: '7' })).toEqual({ uid: 1000, gid: 1001 });
  expect(sandboxUser(ROOT, { SUDO_UID: '1000', SUDO_GID: '100' })).toEqual({ uid: 1000, gid: 100 });
  expect(sandboxUser(ROOT, { SUDO_UID: '1000', SUDO_GID: '0' })).toEqual({ uid: 1000, gid: 65_534 });
  for (const wrong of ['', '0', '00', '-1', '4294967295', '99999999999', '1000; id', ' 1000']) {
    expect(sandboxUser(ROOT, { SUDO_UID: wrong })).toEqual(NOBODY);
  }
});

it('passes an allow list of variables, those that are named, and its own in place of the same of the caller', () => {
  const caller = {
    PATH: '/bin',
    LC_ALL: 'C',
    AWS_SECRET: 's',
    NO_PROXY: '*',
    LD_PRELOAD: 'x',
    TOKEN: 't',
    HOME: '/root',
  };
  expect(sandboxEnvironment(caller, ['TOKEN'], { HOME: '/home/sandbox', EMPTY: undefined })).toEqual({
    ...{ PATH: '/bin', LC_ALL: 'C', TOKEN: 't', HOME: '/home/sandbox' },
  });
});
