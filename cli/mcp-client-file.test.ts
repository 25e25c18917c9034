import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openClientFile, withEntry } from './mcp-client-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-mcp-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const entry = { type: 'http', url: 'http://127.0.0.1:18090/mcp' };
const modeOf = (name: string) => (statSync(name).mode & 0o777).toString(8);

test("the client's other servers, unknown keys and comments stay as they are", () => {
  const before = `{
    // mine
    "inputs": [{ "id": "key" }],
    "servers": {
        "github": {
            "command": "gh-mcp"
        }, /* trailing comma too */
    },
}
`;
  expect(withEntry(before, 'mcp.json', 'servers', entry)).toBe(`{
    // mine
    "inputs": [{ "id": "key" }],
    "servers": {
        "github": {
            "command": "gh-mcp"
        },
        "mesh": {
            "type": "http",
            "url": "http://127.0.0.1:18090/mcp"
        }, /* trailing comma too */
    },
}
`);
});

test('an entry of ours is replaced, and what the client keeps beside it stays', () => {
  const before = JSON.stringify({
    mcpServers: { mesh: { command: 'old', args: ['mcp'], httpUrl: 'http://evil', cwd: '/x', disabled: true } },
  });
  const { mcpServers } = JSON.parse(withEntry(before, 'mcp.json', 'mcpServers', entry));
  expect(mcpServers).toEqual({ mesh: { disabled: true, ...entry } });
});

test.each([
  ['{"mcpServers": {', 'CloseBraceExpected in line 1'],
  ['[]', 'it is no JSON object'],
  ['{"mcpServers": []}', 'its mcpServers is no JSON object'],
])('a file that holds %s is refused and left as it is', (before, why) => {
  const file = path.join(directory, 'mcp.json');
  writeFileSync(file, before);
  expect(() => openClientFile(file, 'mcpServers')).toThrow(why);
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('the file is written for its owner alone, with the former text beside it, through a link to it', () => {
  const [file, link] = [path.join(directory, 'real', 'mcp.json'), path.join(directory, 'mcp.json')];
  mkdirSync(path.dirname(file));
  writeFileSync(file, '{}', { mode: 0o644 });
  symlinkSync(file, link);
  expect(openClientFile(link, 'mcpServers').write(entry)).toBe(`${file}.bak`);
  expect([modeOf(file), modeOf(`${file}.bak`), readFileSync(`${file}.bak`, 'utf8')]).toEqual(['600', '600', '{}']);
  expect(JSON.parse(readFileSync(link, 'utf8'))).toEqual({ mcpServers: { mesh: entry } });
});

test('a new file is made with its directory, and has no backup', () => {
  const file = path.join(directory, '.cursor', 'mcp.json');
  expect(openClientFile(file, 'mcpServers').write(entry)).toBeUndefined();
  expect([modeOf(file), JSON.parse(readFileSync(file, 'utf8'))]).toEqual(['600', { mcpServers: { mesh: entry } }]);
});
