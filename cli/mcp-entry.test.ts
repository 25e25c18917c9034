import { expect, test } from 'vitest';
import { CLIENTS } from './mcp-entry.ts';
import { nextStep } from './mcp-paths.ts';

test.each([
  ['cursor', '/home/ana/.cursor/mcp.json', /^Next: Cursor reads this file; start it again\.$/],
  ['cursor', '/home/ana/.mesh/mcp.json', /^Next: Cursor reads ~\/\.cursor\/mcp\.json.* --output, or copy the entry/],
  ['vscode', '/src/app/.vscode/mcp.json', /^Next: VS Code reads this file; start the server mesh there/],
  ['claude-code', '/src/app/.mcp.json', /^Next: Claude Code reads this file; start claude in that directory/],
  [
    'claude-desktop',
    '/Users/ana/Library/Application Support/Claude/claude_desktop_config.json',
    /reads this file; quit it/,
  ],
  [
    'claude-desktop',
    'C:\\Users\\ana\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    /reads this file; quit it/,
  ],
  ['generic', '/home/ana/.mesh/mcp.json', /^Next: name this file to your client/],
] as const)('of a file for %s at %s it is said who reads it and what to do next', (client, file, expected) => {
  expect(nextStep(client, file)).toMatch(expected);
});

test('every client is told one thing to do next', () => {
  for (const client of CLIENTS) expect(nextStep(client, '/tmp/x.json')).toMatch(/^Next: .+\.$/);
});
