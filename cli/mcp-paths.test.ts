import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clientOfFile, installedClients, ownFileOf } from './mcp-paths.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test.each([
  ['darwin', 'claude-desktop', 'Library/Application Support/Claude/claude_desktop_config.json'],
  ['linux', 'vscode', '.config/Code/User/mcp.json'],
  ['linux', 'cursor', '.cursor/mcp.json'],
  ['linux', 'claude-code', '.claude.json'],
  ['linux', 'windsurf', '.codeium/windsurf/mcp_config.json'],
] as const)('on %s %s reads %s of its person', (platform, client, file) => {
  expect(ownFileOf(client, { platform, home, env: {} })).toBe(path.join(home, file));
});

test('a client is found by the directory that it keeps its files in, Claude Code by its file', () => {
  const machine = { platform: 'linux', home, env: {} } as const;
  expect(installedClients(machine)).toEqual([]);
  mkdirSync(path.join(home, '.cursor'));
  expect(installedClients(machine)).toEqual(['cursor']);
  writeFileSync(path.join(home, '.claude.json'), '{}');
  expect(installedClients(machine)).toEqual(['claude-code', 'cursor']);
});

test.each([
  ['/src/app/.vscode/mcp.json', 'vscode'],
  ['/src/app/.mcp.json', 'claude-code'],
  ['/src/app/other.json', undefined],
])('%s is read by %s', (file, client) => {
  expect(clientOfFile(file)).toBe(client);
});
