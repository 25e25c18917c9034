import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { file } from '../bin/compose/config.ts';
import { addCommands } from '../cli/commands.ts';
import { VERBS } from '../cli/own-command.ts';
import { MESHD } from '../docs/meshd-options.ts';

const PAGE = readFileSync('docs/configuration.md', 'utf8');
const VARIABLE = /\bMESH_[A-Z_]+\b/g;

/** What its help and that of each command below it shows. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  return [text, ...command.commands.map(helpOf)].join('\n');
}

async function mesh(): Promise<Command> {
  const program = new Command('mesh');
  const nothing = () => Promise.reject(new Error('no command runs here'));
  await addCommands(program, { words: [...VERBS], version: '', loadLauncher: nothing, loadAuditStore: nothing });
  return program;
}

const namesIn = (text: string) => new Set(text.match(VARIABLE) ?? []);
/** Of the first column of its tables. */
const onPage = new Set([...PAGE.matchAll(/^\| `(MESH_\w+)` \|/gm)].map(([, name]) => name));

test('each variable that a help text names is on the page of the configuration, and each of the page is in one', async () => {
  const helped = namesIn([helpOf(await mesh()), helpOf(MESHD)].join('\n'));
  expect([...helped].toSorted()).toEqual([...onPage].toSorted());
});

test('each variable that a process reads itself is on the page of the configuration', () => {
  const folders = ['bin', 'cli', 'client', 'net', 'platform', 'plane', 'rest', 'mcp', 'storage', 'llm'];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.test)\.ts$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  const read = files.flatMap((name) =>
    [...readFileSync(name, 'utf8').matchAll(/(?:process\.env(?:\.|\[')|\bvariable\(')(MESH_\w+)/g)].map(
      ([, variable]) => variable,
    ),
  );
  expect(read.length).toBeGreaterThan(5);
  expect([...new Set(read)].filter((name) => !onPage.has(name))).toEqual([]);
});

test('each key of config.yaml is shown on the page of the configuration', () => {
  const { properties: { app } = {} } = z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' });
  const keys = Object.keys((app as { readonly properties: object }).properties);
  expect(keys).toContain('initAdmins');
  expect(keys.filter((key) => !new RegExp(`^  ${key}:`, 'm').test(PAGE))).toEqual([]);
});

test('each option with which meshd starts is on the page of the configuration, and the page names no other', () => {
  const options = MESHD.options.map(({ flags }) => flags);
  expect([...PAGE.matchAll(/^\| `(-[^`]+)` \|/gm)].map(([, flags]) => flags)).toEqual(options);
  const known = new Set(MESHD.options.map(({ long }) => long));
  expect((PAGE.match(/--[a-z][a-z-]+/g) ?? []).filter((name) => !known.has(name) && name !== '--help')).toEqual([]);
});
