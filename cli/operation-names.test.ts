import { expect, test } from 'vitest';
import { operations } from '../tools/index.ts';
import { OWN_COMMANDS, withCommands } from './operation-names.ts';
import { VERBS } from './own-command.ts';

test('a text that names operations names the commands that call them', async () => {
  expect(await withCommands('There is no snapshot x: list_snapshots shows them (delete_peer, list_audit).')).toBe(
    'There is no snapshot x: mesh snapshots shows them (mesh admin delete-peer, mesh log).',
  );
});

test.each(['web_db_1 is a name', '/api/v1/list_peers', 'my-list_peers', 'list_peers.yaml', 'plan_stale'])(
  '%j names no operation',
  async (text) => {
    expect(await withCommands(text)).toBe(text);
  },
);

test('each operation with a command of its own is one, and its command is one of mesh', () => {
  const names = new Set(operations.map(({ name }) => name));
  expect(Object.keys(OWN_COMMANDS).filter((name) => !names.has(name))).toEqual([]);
  const verbs: readonly string[] = VERBS;
  expect(Object.values(OWN_COMMANDS).filter((command) => !verbs.includes(command.split(' ')[1] ?? ''))).toEqual([]);
});
