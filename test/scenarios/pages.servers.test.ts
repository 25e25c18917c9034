import { readFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { isLong } from '../kits/lab/privileged.ts';
import { blocksOf, COMMANDS, commandBlock, commandsOf, PAGES } from '../kits/process/page-blocks.ts';
import { hasTerminal } from '../kits/process/pseudo-terminal.ts';
import { runAsWritten, startAsWritten } from '../kits/process/reader.ts';

const START = 'README.md: Two commands 1';

/** Each command is a process, and a machine may be busy. */
const READING_MS = 600_000;

/** Blocks that a reader runs one after the other in one shell, each time on a new control plane. */
type Session = readonly [string, ...string[]];
const SHORT: readonly Session[] = [
  [
    START,
    'README.md: The first change 1',
    'README.md: The first change 2',
    'README.md: The first change 3',
    'docs/rest.md: First steps over REST 1',
    'docs/delegation.md: Delegation: what agents may do 1',
  ],
  [
    START,
    'README.md: The first change 1',
    'README.md: The first change 2',
    'README.md: The first change 3',
    'docs/how-to.md: Let a contractor in for two hours 1',
    'docs/how-to.md: See who reaches what, and why 1',
    'docs/how-to.md: Take access back 1',
    'docs/how-to.md: See who changed what, and undo it 1',
    'docs/how-to.md: Add a colleague 1',
    'docs/how-to.md: Keep the network in Git 1',
  ],
  ['README.md: Three nodes 1'],
];
/** Sessions of the long run. */
const LONG: readonly Session[] = [
  [
    START,
    'README.md: The first change 1',
    'README.md: The first change 2',
    'docs/files.md: A repository owns the policies 1',
  ],
  [
    START,
    'README.md: The first change 1',
    'README.md: The first change 2',
    'docs/compliance.md: Compliance 1',
    'docs/compliance.md: Which peers 1',
    'docs/compliance.md: Schedules 1',
    'docs/compliance.md: Changes and controls 1',
  ],
  [START, 'README.md: The first change 1', 'docs/evidence.md: Evidence 1', 'docs/evidence.md: Verifying it 1'],
  [
    START,
    'README.md: The first change 1',
    'README.md: The first change 2',
    'docs/reviews.md: Making one 1',
    'docs/reviews.md: Making one 2',
    'docs/reviews.md: Reminders 1',
    'docs/reviews.md: Keys and tokens with their ages 1',
  ],
  [START, 'README.md: The first change 1', 'docs/webhooks.md: Webhooks 1'],
  ['docs/models.md: Planning with a model 1'],
  ['docs/reverse-proxy.md: Behind a reverse proxy with TLS 1'],
  [START, 'docs/accounts-and-tokens.md: First start 1'],
  [START, 'docs/operating.md: Health and readiness 1'],
  [START, 'README.md: The first change 1', 'docs/workloads.md: A job of GitHub Actions 1'],
  [START, 'examples/first-change/README.md: Run it 1'],
];
/** What needs no control plane. */
const ALONE = ['docs/policy.md: Testing policies without a server 1'];
const CLUSTER = 'test/scenarios/deploy-page.servers.test.ts';
/** What a test of its own runs, which finds it by this name. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md: Two commands 2': 'test/scenarios/package.test.ts',
  'README.md: Three nodes 2': 'test/natlab/quickstart.lab.test.ts',
  'docs/deploy.md: Secrets 1': CLUSTER,
  'docs/deploy.md: Secrets 2': CLUSTER,
  'docs/deploy.md: MongoDB 1': CLUSTER,
  'docs/deploy.md: MongoDB 2': CLUSTER,
  'docs/deploy.md: NATS 1': CLUSTER,
  'docs/deploy.md: Control planes 1': CLUSTER,
  'docs/deploy.md: Control planes 2': CLUSTER,
  'docs/deploy.md: Relay, STUN and balancer 1': CLUSTER,
  'docs/deploy.md: Firewall 1': CLUSTER,
  'docs/deploy.md: New certificates 1': CLUSTER,
  'evals/README.md: Scoring a model 1': 'evals/run.test.ts',
};

test('every block of commands on a page is run by a test (else: name it in this file, after what it builds on)', () => {
  const run = new Set([...SHORT.flat(), ...LONG.flat(), ...ALONE, ...Object.keys(ELSEWHERE)]);
  expect([...run].toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
  for (const [name, file] of Object.entries(ELSEWHERE))
    expect(readFileSync(path.resolve(file), 'utf8')).toContain(name);
});

test('every block on a page says what it is in, so that no command passes for something else', () => {
  const unnamed = PAGES.flatMap(blocksOf).filter(({ language }) => language === '');
  expect(unnamed.map(({ page, heading }) => `${page}: ${heading}`)).toEqual([]);
});

describe.skipIf(!hasTerminal)('a reader with nothing but a checkout', () => {
  test.each([...SHORT, ...(isLong ? LONG : [])].map((names) => [names.join(', then '), names] as const))(
    'can run %s',
    async (_, names) => {
      const [first, ...rest] = names;
      const [start = '', ...commands] = commandsOf(first);
      expect(start).toMatch(/\bnpm start$/);
      await using plane = await startAsWritten(start, settingsOn(commandBlock(first).page));
      expect((await fetch(new URL('/readyz', plane.url))).status).toBe(200);
      // The checks of the whole repository are what runs here.
      const own = commands.filter((command) => command !== 'npm install && npm test').join('\n');
      await expectShown([own, ...rest.map((name) => commandBlock(name).text)].join('\n'), rest, plane.url);
    },
    READING_MS,
  );

  test.each(ALONE)('can run %s without a control plane', async (name) => {
    await expectShown(commandBlock(name).text, [name]);
  });
});

/** What the page has in config.yaml. */
function settingsOn(page: string): object {
  const [yaml] = blocksOf(page).filter(({ language }) => language === 'yaml');
  return yaml ? (load(yaml.text) as { app: object }).app : {};
}

/** Runs commands to their end and finds what the pages say that they show. */
async function expectShown(commands: string, names: readonly string[], url?: string): Promise<void> {
  const { code, shown } = await runAsWritten(commands, url);
  expect(code, shown).toBe(0);
  const text = shown.replaceAll(/ +/g, ' ');
  for (const line of names.flatMap((name) => commandBlock(name).shows.split('\n').filter(Boolean))) {
    const pattern = line.replaceAll(/ +/g, ' ').split('…').map(RegExp.escape).join('.*');
    expect(text).toMatch(new RegExp(`^${pattern}\\s*$`, 'm'));
  }
}
