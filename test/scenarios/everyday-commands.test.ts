import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from 'js-yaml';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { mesh } from '../kits/process/run-command.ts';

const harness = await startHarness();
afterAll(() => harness[Symbol.asyncDispose]());
let place: Place;
let home: string;
let workspaces = 0;
beforeEach(async () => {
  const slug = `everyday-${workspaces++}`;
  place = await harness.workspace(slug);
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  await mesh(['login', '--server', harness.url, '--workspace', slug], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Said below a table that does not show every field. */
const BEYOND_COLUMNS = /^\d+ more fields? with -o json\n$/;

/** Which device an approval is about. */
const PEER_LINE = /^\S+ \(p_\w+\): key \S+\n/gm;
const run = async (...args: string[]) => {
  const { code, stdout, stderr } = await mesh(args, { home, env: { COLUMNS: '200' } });
  expect([args, code, stderr.replace(BEYOND_COLUMNS, '').replaceAll(PEER_LINE, '')]).toEqual([args, 0, '']);
  return stdout;
};
const rowsOf = (table: string) =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
const SENTENCE = 'let role=web reach role=db on port 5432 and nobody else';
const POLICY = `apiVersion: mesh.internal/v1alpha1
kind: MeshPolicy
metadata: { name: web-to-db }
spec:
  action: ALLOW
  peerSelector: { matchLabels: { role: db } }
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: web } } }], ports: [{ protocol: TCP, port: 5432 }] }]
`;

async function threePeers(): Promise<void> {
  for (const [name, labels] of [
    ['web-1', { role: 'web', env: 'prod' }],
    ['web-2', { role: 'web' }],
    ['db-1', { role: 'db' }],
  ] as const) {
    await register(harness, await joinTokenFor(harness, place, { labels }), name);
  }
}

test('what mesh peers, policies, networks and agents print as YAML is a file that mesh apply takes', async () => {
  await threePeers();
  const file = path.join(home, 'exported.yaml');
  writeFileSync(file, POLICY);
  await run('apply', '-f', file);
  await run('admin', 'create-agent', '--name', 'planner');
  for (const verb of ['peers', 'policies', 'networks', 'agents']) {
    const text = await run(verb, '-o', 'yaml');
    const { kind, items } = load(text) as { kind: string; items: unknown[] };
    expect([verb, kind, items.length > 0]).toEqual([verb, 'List', true]);
    writeFileSync(file, text);
    const applied = JSON.parse(await run('apply', '-f', file, '-o', 'json'));
    expect(new Set(applied.items.map(({ result }: { result: string }) => result))).toEqual(new Set(['unchanged']));
  }
  const labelled = load(await run('peers', '--labels', 'env=prod', '-o', 'yaml')) as { items: unknown[] };
  expect(labelled.items).toMatchObject([{ kind: 'MeshPeer', metadata: { name: 'web-1' } }]);
  expect(load(await run('policies', 'web-to-db', '-o', 'yaml'))).toMatchObject({ kind: 'MeshPolicy' });
});

test('mesh peers is a table with address, online and labels; one of them is shown in full by its name', async () => {
  await threePeers();
  const [titles, ...rows] = rowsOf(await run('peers'));
  expect(titles).toEqual(['Name', 'Id', 'Address', 'Online', 'Phase', 'Version', 'Labels', 'Agent']);
  expect(rows.map(([name, , ...rest]) => [name, ...rest])).toEqual([
    ['db-1', '10.96.0.3', 'no', 'ready', '-', 'role=db', '-'],
    ['web-1', '10.96.0.1', 'no', 'ready', '-', 'role=web,env=prod', '-'],
    ['web-2', '10.96.0.2', 'no', 'ready', '-', 'role=web', '-'],
  ]);
  expect(rowsOf(await run('peers', '--labels', 'role=web,env=prod')).length).toBe(2);
  expect(rowsOf(await run('peers', '--fields', 'platform,labels'))[0]).toEqual(['Name', 'Id', 'Labels', 'platform']);
  expect(await run('peers', 'web-1')).toMatch(/^status\.address +10\.96\.0\.1$/m);
  expect(JSON.parse(await run('peers', 'web-1', '--json')).labels).toEqual({ role: 'web', env: 'prod' });
  expect((load(await run('peers', '-o', 'yaml')) as { items: unknown[] }).items.length).toBe(3);
});

test('mesh apply takes a file or standard input, and mesh policies shows what it made', async () => {
  const file = path.join(home, 'policy.yaml');
  writeFileSync(file, POLICY);
  expect(await run('apply', '-f', file)).toContain('web-to-db  created');
  const again = await mesh(['apply', '-f', '-', '--json'], { home, stdin: POLICY });
  expect(JSON.parse(again.stdout).items).toEqual([{ kind: 'MeshPolicy', name: 'web-to-db', result: 'unchanged' }]);
  expect(rowsOf(await run('policies'))[1]?.slice(0, 3)).toEqual([
    'web-to-db',
    'ALLOW ingress to role=db only from role=web on TCP/5432; egress not touched',
    '0',
  ]);
  const missing = await mesh(['apply', '-f', path.join(home, 'none.yaml')], { home });
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('Cannot read')]);
});

describe('mesh approve and mesh reject', () => {
  const pending = async (name: string) => {
    const body = { settings: { requirePeerApproval: true } };
    await harness.api('PATCH', `/api/v1/workspaces/${place.workspace}`, { ...place, body });
    return (await register(harness, await joinTokenFor(harness, place), name)).body.id;
  };

  test('let a peer in by its id, and turn another away by its name', async () => {
    const id = await pending('web-1');
    const { body } = await harness.api('GET', `/api/v1/peers/${id}`, place);
    expect(await mesh(['approve', id], { home })).toEqual({
      code: 0,
      stdout: 'web-1 is ready as 10.96.0.1.\n',
      stderr: `web-1 (${id}): key ${body.publicKey}\n`,
    });
    await pending('web-2');
    expect(await run('reject', 'web-2')).toBe('web-2 is revoked.\n');
    const { code, stderr } = await mesh(['reject', 'web-1'], { home });
    expect([code, stderr]).toEqual([5, 'web-1 is ready, not pending. To shut it out: mesh admin revoke-peer web-1\n']);
  });

  test('refuse a name that another device bore, and name the id to send', async () => {
    const id = await pending('web-1');
    await harness.api('DELETE', `/api/v1/peers/${id}`, place);
    const next = await pending('web-1');
    const { code, stderr } = await mesh(['approve', 'web-1'], { home });
    expect([code, stderr]).toEqual([5, expect.stringContaining(`it is ${next} with the key`)]);
    expect(await run('approve', next)).toMatch(/^web-1 is ready as /);
  });

  test('say that nothing waits where a list of ids came out empty, and else what does', async () => {
    for (const verb of ['approve', 'reject']) {
      for (const ids of [[], ['']]) {
        const nothing = `Nothing waits for approval: there is nothing to ${verb}.\n`;
        expect(await mesh([verb, ...ids], { home })).toEqual({ code: 0, stdout: nothing, stderr: '' });
      }
    }
    expect(JSON.parse((await mesh(['approve', '--json'], { home })).stdout)).toEqual({ items: [] });
    await pending('web-1');
    await pending('web-2');
    const { code, stdout } = await mesh(['approve', ''], { home, env: { COLUMNS: '200' } });
    expect([code, rowsOf(stdout)]).toEqual([
      2,
      [
        ['Id', 'What it does', 'Asked by'],
        [expect.stringMatching(/^p_/), expect.stringMatching(/^lets device web-1 into network default/), '-'],
        [expect.stringMatching(/^p_/), expect.stringMatching(/^lets device web-2 into network default/), '-'],
        [expect.stringMatching(/^To approve one: mesh approve p_/)],
      ],
    ]);
    const narrow = await mesh(['approve'], { home, env: { COLUMNS: '80' } });
    expect(narrow.stdout).toMatch(/^Id +What it does/);
    expect(await run('approve', 'web-1', 'web-2')).toMatch(/^web-1 is ready as \S+\nweb-2 is ready as \S+\n$/);
    const ended = await mesh(['reject', 'web-9', 'web-1'], { home });
    expect([ended.code, ended.stderr]).toEqual([4, expect.stringContaining('web-9')]);
  });

  test('carry out a change, or do not, by the id of its workflow', async () => {
    await threePeers();
    const ask = async () => {
      const { stdout } = await mesh(['plan', SENTENCE, '--apply', '--json'], { home });
      return JSON.parse(stdout).workflow.workflow_id;
    };
    expect(await run('reject', await ask(), '--note', 'not today')).toMatch(/^wf_\w+ is rejected: /);
    expect(await run('approve', await ask())).toMatch(/^wf_\w+ is executed: /);
    expect(rowsOf(await run('workflows')).map(([, status]) => status)).toEqual(['Status', 'executed', 'rejected']);
  });
});

test('an id that came out empty is refused, and never another operation', async () => {
  for (const args of [
    ['peers', ''],
    ['workflows', ' '],
    ['admin', 'delete-peer', ''],
    ['admin', 'get-policy', '--id', ''],
  ]) {
    const { code, stdout, stderr } = await mesh(args, { home });
    expect([args, code, stdout, stderr]).toEqual([args, 2, '', '--id is empty: what was to give it named nothing.\n']);
  }
});

test('mesh plan shows what a sentence would change, and --apply puts it into the approval workflow', async () => {
  await threePeers();
  const shown = await run('plan', SENTENCE);
  expect(shown).toContain('Closes');
  expect(shown).toMatch(/To apply it: mesh admin apply-network-change --plan-id \S+ --approved-by admin\n$/);
  const applied = await mesh(['plan', ...SENTENCE.split(' '), '--apply'], { home });
  expect([applied.code, applied.stderr]).toEqual([
    0,
    expect.stringMatching(/^Waits for approval: mesh approve wf_\w+\n$/),
  ]);
});

test('mesh plan --orders takes orders from a file, as a list or one by itself', async () => {
  await threePeers();
  const file = path.join(home, 'orders.yaml');
  writeFileSync(file, '- { do: only, from: [role=web], to: [role=db], ports: [tcp/5432] }');
  expect(await run('plan', '--orders', file)).toContain('only role=web to role=db on tcp/5432');
  writeFileSync(file, '{ "orders": [{ "do": "allow", "from": ["role=web"], "to": ["db-1"] }] }');
  expect(await run('plan', '--orders', file, '--apply')).toMatch(/^Already so: .*\nThere is nothing to apply\.\n$/);
  writeFileSync(file, '{ do: deny, from: [web-3], to: [db-1] }');
  const wrong = await mesh(['plan', '--orders', file], { home });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('There is no peer "web-3"')]);
  expect((await mesh(['plan'], { home })).stderr).toContain('--orders FILE');
});

test('mesh allow, deny, only and remove-access are orders, shown with the command that puts them forward', async () => {
  await threePeers();
  const shown = await run('deny', 'peers', 'db-1', '--except-from', 'web-1', '--port', 'tcp/22', '--for', '2h');
  expect(shown).toContain('deny peers except web-1 to db-1 on tcp/22 until');
  expect(shown).not.toMatch(/^\|/m);
  expect(shown).toMatch(/To apply it: mesh admin apply-network-change --plan-id \S+ --approved-by admin\n$/);
  const { stdout } = await mesh(['only', 'role=web', 'role=db', '--side', 'from', '--json'], { home });
  expect(JSON.parse(stdout)).toMatchObject({ changes: [{ name: 'only-from-web' }] });
  expect(await run('allow', 'role=web', 'db-1')).toBe('Already so: by default\nThere is nothing to apply.\n');
  const refused = await mesh(['remove-access', 'role=web', 'db-1'], { home });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('No policy gives this')]);
  const applied = await mesh(['deny', 'web-2', 'db-1', '--apply'], { home });
  expect([applied.code, applied.stderr]).toEqual([
    0,
    expect.stringMatching(/^Waits for approval: mesh approve wf_\w+\n$/),
  ]);
});

test('mesh tokens lists join tokens and API tokens, agents, snapshots, networks and workspaces have their lists', async () => {
  await run(
    'invite',
    '--public-server',
    'https://mesh.example.com',
    '--labels',
    'role=web,env=prod',
    '--device-labels',
    'site',
  );
  await run('admin', 'create-api-token', '--name', 'ci', '--scopes', 'network:read');
  const rows = rowsOf(await run('tokens'));
  expect(rows.map(([, kind, name]) => [kind, name])).toEqual([
    ['Kind', 'Name'],
    ['join', 'invitation'],
    ['api', 'ci'],
  ]);
  expect(rows[1]).toContain('role=web,env=prod');
  expect([rows[0]?.includes('Devices may ask for'), rows[1]?.includes('site')]).toEqual([true, true]);
  expect(await run('agents')).toBe('none\n');
  expect(await run('snapshots')).toMatch(/^(none|Id)/);
  expect(rowsOf(await run('networks'))[1]?.[0]).toBe('default');
  expect(await run('workspaces')).toContain(place.workspace);
});

test('mesh admin takes the names in a path without an option, and labels as words', async () => {
  await threePeers();
  await run('admin', 'update-peer', 'web-1', '--labels', 'role=api');
  expect(JSON.parse(await run('admin', 'get-peer', 'web-1', '--json')).labels).toEqual({ role: 'api' });
});

test('mesh policy lint tells each finding with what to do and exits 1, and 0 where there is nothing', async () => {
  await threePeers();
  expect(await run('policy', 'lint')).toBe('Nothing about the policies looks like a mistake.\n');
  const file = path.join(home, 'twice.yaml');
  writeFileSync(file, `${POLICY}---\n${POLICY.replace('web-to-db', 'again')}`);
  await run('apply', '-f', file);
  const { code, stdout } = await mesh(['policy', 'lint'], { home });
  expect([code, stdout.split('\n')]).toEqual([
    1,
    [
      'RULE_IS_SHADOWED web-to-db ingress rule 0: other ALLOW rules already allow all of it: again.',
      '  The two say the same: remove either, web-to-db or again, and never both.',
      '',
    ],
  ]);
});
