import { expect, it, test } from 'vitest';
import { sandboxEnvironment, sandboxUser } from './confinement.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };

test.each([
  [{}, NOBODY],
  [
    { SUDO_UID: '1000', SUDO_GID: '1001' },
    { uid: 1000, gid: 1001 },
  ],
  [{ SUDO_UID: '0', SUDO_GID: '0' }, NOBODY],
  [{ SUDO_UID: '00', SUDO_GID: '7' }, NOBODY],
  [
    { SUDO_UID: '1000', SUDO_GID: '0' },
    { uid: 1000, gid: 65_534 },
  ],
  [{ SUDO_UID: '1000' }, { uid: 1000, gid: 65_534 }],
  [{ SUDO_UID: '4294967295' }, NOBODY],
  [{ SUDO_UID: '4294967296' }, NOBODY],
  [{ SUDO_UID: '-1' }, NOBODY],
  [{ SUDO_UID: 'root' }, NOBODY],
  [{ SUDO_UID: '1e3' }, NOBODY],
])('with %j in the environment a command runs as %j, never as root', (environment, user) => {
  expect(sandboxUser(environment)).toEqual(user);
});

it('passes what the allow list and the caller name, under the values of the sandbox', () => {
  const caller = {
    PATH: '/bin',
    LANG: 'C',
    LC_TIME: 'C',
    TERM: 'dumb',
    HOME: '/root',
    MESH_TOKEN: 'mesh-dlg-spent',
    LD_PRELOAD: '/evil.so',
    LC_ALL_SECRET: 'x',
    CI: '1',
  };
  expect(sandboxEnvironment(caller, ['CI', 'MESH_TOKEN'], { HOME: '/tmp/a', MESH_TOKEN: 'mesh-agt-own' })).toEqual({
    PATH: '/bin',
    LANG: 'C',
    LC_TIME: 'C',
    TERM: 'dumb',
    CI: '1',
    HOME: '/tmp/a',
    MESH_TOKEN: 'mesh-agt-own',
  });
});
