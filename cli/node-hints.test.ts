import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type NodeConfig, writeNodeConfig } from '../client/enrol/node-config.ts';
import { asUser } from '../test/kits/process/as-user.ts';
import { addCommands } from './commands.ts';
import { commandOf } from './failure.ts';
import { HINTS, type HintFacts, upText } from './node-hints.ts';
import { requireNodeRights } from './node-rights.ts';
import { VERBS } from './own-command.ts';
import { requireRoot } from './root.ts';

const FACTS: HintFacts = {
  directory: "/srv/a mesh's",
  server: 'https://mesh.example.net:8443',
  interfaceName: 'mesh1',
  id: 'p_abcdefghijklmnopqrstuvwxyz',
  acceptable: '8.8.8.0/24',
  upOptions: ['--proxy', '127.0.0.1:0'],
};
const EVERY_FACT = [FACTS, { directory: '/srv/mesh', id: 'p_a', server: 'http://h:1' }];

/** A directory with the configuration of a node, until the test is over. */
function directoryWith(facts: Pick<NodeConfig, 'tunnel'>): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-hints-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const key = Buffer.alloc(32, 1).toString('base64');
  const keys = { controlKey: key, deviceToken: 't', privateKey: key, signalingUrl: 'nats://h:1' };
  writeNodeConfig(directory, { server: 'http://h:1', id: 'p_self', name: 'self', workspaceId: 'w', ...keys, ...facts });
  return directory;
}

/** Words of a line as a shell makes them, with single quotes alone. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? [];
  return words.map((word) => word.replaceAll("\\'", '\0').replaceAll("'", '').replaceAll('\0', "'"));
}

/** What the parser of mesh makes of a line; nothing is run. */
async function parsed(line: string): Promise<Command> {
  const [mesh, ...words] = wordsOf(line);
  expect(mesh).toBe('mesh');
  const program = new Command('mesh').enablePositionalOptions().exitOverride();
  const nothing = () => Promise.reject(new Error('no command runs here'));
  const context = { version: '0.1.0', loadLauncher: nothing, loadAuditStore: nothing };
  await addCommands(program, { words, ...context });
  const { command, rest } = commandOf(program, words);
  expect([line, command.commands.length]).toEqual([line, 0]);
  if (rest.join() === '--help') return command;
  let ran: readonly unknown[] | undefined;
  command.exitOverride().action((...args: unknown[]) => {
    ran = args;
  });
  await program.parseAsync(words, { from: 'user' });
  expect([line, ran !== undefined]).toEqual([line, true]);
  return command;
}

test.each(Object.entries(HINTS))('the hint %s is a command line that mesh takes as it stands', async (_name, hint) => {
  for (const facts of EVERY_FACT) {
    for (const user of [0, 1_000]) {
      asUser(user);
      for (const line of hint(facts).split(' && ')) {
        expect(line).not.toMatch(/[<>…]/);
        expect(line.startsWith('sudo ') && user === 0).toBe(false);
        const command = await parsed(line.replace(/^sudo /, ''));
        if ('configDir' in command.opts()) expect(command.opts()['configDir']).toBe(facts.directory);
        if ('server' in command.opts()) expect(command.opts()['server']).toBe(facts.server);
      }
    }
  }
});

test('who is behind sudo is told the directory, and who has all rights is not told of sudo', () => {
  vi.stubEnv('MESH_CONFIG_DIR', '/home/ada/.mesh');
  onTestFinished(() => void vi.unstubAllEnvs());
  asUser(1_000);
  expect(HINTS.up({})).toBe('sudo mesh up --daemon --config-dir /home/ada/.mesh');
  asUser(0);
  expect([HINTS.up({}), HINTS.up({ directory: '/srv' })]).toEqual([
    'mesh up --daemon',
    'mesh up --daemon --config-dir /srv',
  ]);
});

test('who lacks rights is shown the line that was given, with them, and no token', () => {
  asUser(1_000);
  expect(() => requireRoot('mesh ping', '', ['ping', 'my db', '-c', '2'])).toThrow(
    "mesh ping needs superuser rights: sudo mesh ping 'my db' -c 2",
  );
  expect(() => requireRoot('mesh up', '', ['up', '--token', 'mesh-dlg-x'])).toThrow(
    'mesh up needs superuser rights: run the same command with sudo',
  );
});

test('who makes a node is not told of sudo, with which its files would be those of root', () => {
  asUser(1_000);
  expect(HINTS.join(FACTS)).toMatch(/^mesh init /);
  expect(HINTS.joinAgain(FACTS)).toMatch(/^mesh init /);
});

test('a user without superuser rights is told both ways to start a node, and no sudo for one in userspace mode', () => {
  const directory = directoryWith({});
  const alone = `mesh up --daemon --config-dir ${directory}`;
  asUser(1_000);
  expect(upText({ directory })).toBe(
    `sudo ${alone}, or without superuser rights, for programs that use its proxy: mesh up --userspace --daemon --config-dir ${directory}`,
  );
  const inUserspace = directoryWith({ tunnel: 'userspace' });
  expect(upText({ directory: inUserspace })).toBe(`mesh up --daemon --config-dir ${inUserspace}`);
  expect(HINTS.status({ directory: inUserspace })).toBe(`mesh status --config-dir ${inUserspace}`);
  asUser(0);
  expect(upText({ directory })).toBe(alone);
});

test('a user who may not ask a node is told of one without superuser rights, and to join where there is none', () => {
  asUser(1_000);
  const [directory, none] = [directoryWith({}), path.join(directoryWith({}), 'none')];
  expect(() => requireNodeRights('mesh status', directory)).toThrow(
    `A node without superuser rights, for programs that use its proxy: mesh up --userspace --daemon --config-dir ${directory}`,
  );
  expect(() => requireNodeRights('mesh status', directory)).not.toThrow('mesh init');
  expect(() => requireNodeRights('mesh status', none)).toThrow(
    /^mesh status needs superuser rights: sudo mesh.*\nThis user has no node: .*\nJoin first, .*: mesh init .*\nA node without superuser rights, /,
  );
  expect(() => requireNodeRights('mesh status', directoryWith({ tunnel: 'userspace' }))).not.toThrow();
});

test('commands of the node show no command line but these, and the node itself none', () => {
  const files = ['cli', 'client']
    .flatMap((folder) => readdirSync(folder, { encoding: 'utf8', recursive: true }).map((name) => `${folder}/${name}`))
    .filter((name) => /^client\/|^cli\/(?:node-|host-firewall|own-node|no-conf|left-behind|end-agent)/.test(name))
    .filter((name) => /(?<!\.test|\.testkit)\.ts$/.test(name));
  expect(files).toEqual(expect.arrayContaining(['client/names/name-service.ts', 'cli/node-hints.ts']));
  const verb = new RegExp(`\\bmesh (?:${VERBS.join('|')})\\b`);
  const found = files.flatMap((name) =>
    readFileSync(name, 'utf8')
      .split('\n')
      .filter((line) => verb.test(line) && !/^\s*(?:\/\*\*|\*|\/\/)/.test(line))
      .filter((line) => !/require(?:Root|NodeRights)\(|option\(|argument\(|description\(/.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found.filter((line) => !line.startsWith('cli/node-hints.ts'))).toEqual([]);
});
