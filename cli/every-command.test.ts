import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MESHD } from '../docs/meshd-options.ts';
import { operations } from '../tools/index.ts';
import { addCommands } from './commands.ts';
import { EXIT } from './exit.ts';
import { reportFailure } from './failure.ts';
import { VERBS } from './own-command.ts';

async function programFor(words: readonly string[]): Promise<Command> {
  const program = new Command('mesh');
  const nothing = () => Promise.reject(new Error('no command runs here'));
  await addCommands(program, { words, version: '0.1.0', loadLauncher: nothing, loadAuditStore: nothing });
  return program;
}

/** As a line that has the names of all of them. */
const buildProgram = () => programFor([...VERBS, ...operations.map(({ name }) => name.replaceAll('_', '-'))]);

const isShown = (command: Command) => !command.name().startsWith('_');
const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.filter(isShown).flatMap(leavesOf);

test('every command prints JSON with --json and with -o json', async () => {
  for (const leaf of leavesOf(await buildProgram())) {
    const options = leaf.options.flatMap(({ short, long }) => [short, long]);
    expect([leaf.name(), options]).toEqual([leaf.name(), expect.arrayContaining(['-o', '--format', '--json'])]);
  }
});

test('each command stands in the table of docs/command-line.md, or in that of the node', async () => {
  const rows = readFileSync('docs/command-line.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `mesh '));
  const node = readFileSync('docs/node.md', 'utf8');
  const missing = (await buildProgram()).commands.filter(isShown).flatMap((command) => {
    const name = command.name();
    const own = rows.filter((row) => row.includes(`\`mesh ${name}`) || row.includes(`\`${name}\``));
    if (own.length === 0 && !node.includes(`mesh ${name}`)) return [name];
    // Operations have a page of their own.
    const below = name === 'admin' || name === 'completion' || own.length === 0 ? [] : leavesOf(command);
    const text = own.join('\n');
    return below
      .filter((leaf) => leaf !== command && !new RegExp(`[ \`]${leaf.name()}[ \`]`).test(text))
      .map((leaf) => `${name} ${leaf.name()}`);
  });
  expect(missing).toEqual([]);
});

test('a hint knows each command, and no other', async () => {
  const { commands } = await buildProgram();
  const names = commands.filter(isShown).map((command) => command.name());
  expect([...VERBS].sort()).toEqual(names.sort());
});

test('each command that a page of the dashboard names is there', async () => {
  const mesh = await buildProgram();
  const files = readdirSync('web/src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const named = files.flatMap((name) => [
    ...readFileSync(path.join('web/src', name), 'utf8').matchAll(/(?<![\w/.@-])(meshd?) ([a-z-]+)(?: ([a-z-]+))?/g),
  ]);
  // Sentences about the program itself.
  const said = named.filter(([, , word = '']) => !['installed', 'itself'].includes(word));
  expect(said.length).toBeGreaterThan(5);
  const missing = said.flatMap(([text, program, word = '', second = '']) => {
    const all = program === 'mesh' ? mesh : MESHD;
    const found = all.commands.find((command) => command.name() === word);
    if (!found) return all.options.some(({ long }) => long === word) || word === '--help' ? [] : [text];
    const isBelow = found.commands.length === 0 || found.commands.some((command) => command.name() === second);
    return isBelow || second === '' ? [] : [text];
  });
  expect(missing).toEqual([]);
});

test('mesh admin lists every operation, under the subject that it is about', async () => {
  const { commands } = await buildProgram();
  const admin = commands.find((command) => command.name() === 'admin');
  const listed = admin?.commands.map((command) => command.name()) ?? [];
  expect(listed.toSorted()).toEqual(operations.map(({ name }) => name.replaceAll('_', '-')).toSorted());
  const help = admin?.helpInformation() ?? '';
  for (const title of ['Peers and networks:', 'Plans and approvals:', 'Webhooks:']) expect(help).toContain(title);
  expect(help).toMatch(/\n\nCommands:\n +help /);
});

test.each([
  ['rename-peer', "unknown command 'rename-peer': did you mean 'mesh rename'?"],
  ['lave', "unknown command 'lave'. See mesh --help"],
  ['pers', "unknown command 'pers': did you mean 'peers'?"],
  ['admin revoke-pear', "unknown command 'revoke-pear'. See mesh admin --help"],
  ['admin rename-peer', "unknown command 'rename-peer': did you mean 'mesh rename'?"],
  ['admin lst-peers', "unknown command 'lst-peers': did you mean 'list-peers'?"],
  ['apply -f x --prun', "unknown option '--prun'. See mesh apply --help"],
  ['init --forc', "unknown option '--forc'. See mesh init --help"],
  ['undo --ye', "unknown option '--ye'. See mesh undo --help"],
  ['users disabel dave', "unknown command 'disabel'. See mesh users --help"],
  ['users lits', "unknown command 'lits': did you mean 'list'?"],
  ['login --password secret', expect.stringMatching(/^unknown option '--password'\. .*MESH_PASSWORD/)],
])('mesh %s is answered without the name of a command that takes something away', async (line, said) => {
  vi.stubEnv('PATH', path.resolve('bin'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const args = line.split(' ');
  const program = (await programFor(args)).exitOverride().configureOutput({ outputError: () => {} });
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  for (const command of all(program)) command.exitOverride().configureOutput({ outputError: () => {} });
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const error: unknown = await program.parseAsync(args, { from: 'user' }).catch((thrown: unknown) => thrown);
  expect(await reportFailure(error, { program, args, format: 'table' })).toBe(EXIT.input);
  expect(written.mock.calls.map(([text]) => String(text).trimEnd())).toEqual([said]);
});

test.each(['up', 'status', 'nc db 22', 'ping db', 'init', 'service install', 'netcheck'])(
  'mesh %s in a sandbox says that there is no node, and not to become superuser',
  async (line) => {
    vi.stubEnv('MESH_SANDBOX', 'scraper');
    onTestFinished(() => void vi.unstubAllEnvs());
    const args = line.split(' ');
    const ran = (await programFor(args)).parseAsync(args, { from: 'user' });
    await expect(ran).rejects.toThrow(/a sandbox has none inside: programs connect to peers directly/);
  },
);

test('nothing but the answer is written to standard output', () => {
  const directory = path.resolve('cli');
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const writers = files.filter(
    (name) =>
      /(?<!\.test)\.ts$/.test(name) &&
      /console\.log|stdout\.write/.test(readFileSync(path.join(directory, name), 'utf8')),
  );
  // ping shows each reply as it comes, to a person alone, and logs each line; completion answers a shell.
  expect(writers.sort()).toEqual(['answer.ts', 'completion.ts', 'node-logs.ts', 'node-ping.ts']);
});
