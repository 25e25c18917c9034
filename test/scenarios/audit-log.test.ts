import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { fingerprintOf } from '../../cli/evidence-keys.ts';
import { leafDataOf } from '../../core/audit/leaf.ts';
import { GrowingTree, leafHash } from '../../core/audit/tree.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { mesh } from '../kits/process/run-command.ts';

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A control plane on a directory that outlives it, and a machine that verifies its log. */
async function openPlane() {
  const [directory, home] = [freshFolder(), freshFolder()];
  const database = path.join(directory, 'mesh.db');
  let harness = await startHarness({ directory });
  const { token: first, workspace } = await harness.workspace();
  let token = first;
  const write = async (name: string) => {
    const body = { name, spec: { action: 'DENY', peerSelector: {} } };
    const { status } = await harness.api('POST', '/api/v1/policies', { token, workspace, body });
    expect(status).toBe(201);
  };
  for (const name of 'abcdefgh') await write(name);
  return {
    directory,
    home,
    database,
    workspace,
    get token() {
      return token;
    },
    write,
    /** Runs `mesh audit verify` against the control plane. */
    async verify(...args: string[]) {
      const target = ['--server', harness.url, '--token', token, '--workspace', workspace];
      const { code, stdout, stderr } = await mesh(['audit', 'verify', ...target, '--json', ...args], { home });
      const answer = code <= 1 ? JSON.parse(stdout) : {};
      return { code, stderr, ...answer.items?.[0] };
    },
    api: (...args: Parameters<Harness['api']>) => harness.api(...args),
    stop: () => harness.stop(),
    async restart() {
      harness = await startHarness({ directory });
    },
    /** Sessions end with the keys of the installation. */
    async login() {
      token = await harness.login();
    },
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}

/** Edits the database of a control plane that does not run, as somebody does who knows how logs are hashed. */
function edit(file: string, workspace: string, sql: string): void {
  const database = new DatabaseSync(file);
  const own = `(SELECT id FROM workspace WHERE name = '${workspace}')`;
  database.exec(`DROP TRIGGER IF EXISTS audit_is_never_changed; DROP TRIGGER IF EXISTS audit_is_never_deleted;`);
  database.exec(sql.replaceAll(':ws', own));
  const rows = database.prepare(`SELECT seq, entry FROM audit WHERE ws = ${own} ORDER BY seq`).all();
  const tree = new GrowingTree();
  for (const { seq, entry } of rows as { seq: number; entry: string }[]) {
    const hashes = tree.append(leafHash(leafDataOf(entry)));
    database.prepare(`UPDATE audit SET hashes = ? WHERE ws = ${own} AND seq = ?`).run(Buffer.concat(hashes), seq);
  }
  database.close();
}

/** What the control plane itself would go by: in its database, and beside it. */
const WITHOUT_CHECKPOINTS = 'DELETE FROM checkpoint;';
const removeHeads = (directory: string) => rmSync(path.join(directory, 'log-heads'), { recursive: true });

test('a log that only grew verifies each time, by the key that signed it the first time', async () => {
  await using plane = await openPlane();
  const first = await plane.verify();
  expect(first).toMatchObject({ code: 0, verified: true, findings: [], workspace: plane.workspace });
  expect(first.notes.join(' ')).toMatch(/compare it with what the operator shows you.*sees it for the first time/);
  for (let n = 0; n < 260; n += 1) await plane.write(`p${n}`);
  const second = await plane.verify();
  expect(second).toMatchObject({ code: 0, verified: true });
  expect(second.entries).toBeGreaterThan(first.entries + 259);
  expect(second.notes.join(' ')).toContain(`This machine saw ${first.entries} entries`);
  await plane.stop();
  const onFile = await mesh(['audit', 'verify', '--database', plane.database, '--json'], { home: plane.home });
  expect(JSON.parse(onFile.stdout)).toMatchObject({ verified: true });
});

test('a byte of a stored record that was changed is found in the file, with the record and its revision', async () => {
  await using plane = await openPlane();
  expect((await plane.verify()).code).toBe(0);
  await plane.stop();
  edit(
    plane.database,
    plane.workspace,
    `UPDATE record SET body = replace(body, 'DENY', 'DENX') WHERE ws = :ws AND name = 'b'`,
  );
  const { code, stdout } = await mesh(['audit', 'verify', '--database', plane.database], { home: plane.home });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /NOT VERIFIED\n(?:.*\n)*.*MeshPolicy b at revision \d+ was changed: the log says [0-9a-f]{12}…/,
  );
});

test.each([
  [
    'its end was cut',
    'DELETE FROM audit WHERE ws = :ws AND seq >= 4; UPDATE workspace SET revision = (SELECT max(revision) FROM audit WHERE ws = :ws) WHERE id = :ws;',
    'shortened',
    /its end was cut, or an older database was restored/,
  ],
  [
    'an entry was inserted',
    `UPDATE audit SET seq = -seq - 2 WHERE ws = :ws AND seq >= 2; UPDATE audit SET seq = -seq - 1 WHERE seq < 0;
    INSERT INTO audit (ws, seq, at, hashes, entry) SELECT ws, 2, at, x'', json_set(entry, '$.type', 'event') FROM audit WHERE ws = :ws AND seq = 1;`,
    'entry_inserted',
    /entry 2 was inserted among them since/,
  ],
  [
    'an entry was changed',
    `UPDATE audit SET entry = replace(entry, 'user:admin', 'user:other') WHERE ws = :ws AND seq = 2;`,
    'entry_changed',
    /entry 2 of them was changed since/,
  ],
])(
  'a machine that saw the log before is told that %s, by a server that signs it',
  async (_what, sql, code, message) => {
    await using plane = await openPlane();
    expect((await plane.verify()).code).toBe(0);
    await plane.stop();
    edit(plane.database, plane.workspace, sql + WITHOUT_CHECKPOINTS);
    removeHeads(plane.directory);
    await plane.restart();
    const told = await plane.verify();
    expect(told).toMatchObject({ code: 1, verified: false, findings: [{ code }] });
    expect(told.findings[0].message).toMatch(message);
    // What was seen first stays what later logs are held against.
    expect(await plane.verify()).toMatchObject({ code: 1, findings: [{ code }] });
  },
);

test('the control plane itself signs nothing on top of a checkpoint that its log contradicts', async () => {
  await using plane = await openPlane();
  expect((await plane.verify()).code).toBe(0);
  await plane.stop();
  edit(plane.database, plane.workspace, 'DELETE FROM audit WHERE ws = :ws AND seq >= 4');
  // With them the control plane does not even start.
  removeHeads(plane.directory);
  await plane.restart();
  const told = await plane.verify();
  expect([told.code, told.stderr]).toEqual([7, expect.stringMatching(/its end is missing.*Nothing more is signed/s)]);
});

test('of two histories that a log was forked into, a machine that saw one is told by the other', async () => {
  await using plane = await openPlane();
  await plane.stop();
  const fork = path.join(freshFolder(), 'fork.db');
  copyFileSync(plane.database, fork);
  await plane.restart();
  await plane.write('one-history');
  expect((await plane.verify()).code).toBe(0);
  await plane.stop();
  copyFileSync(fork, plane.database);
  removeHeads(plane.directory);
  await plane.restart();
  await plane.write('another');
  const told = await plane.verify();
  expect(told).toMatchObject({ code: 1, findings: [{ code: 'forked' }] });
  expect(told.findings[0].message).toMatch(/there are two histories/);
});

test('a database restored to yesterday is told by a machine that saw today, and by a checkpoint kept elsewhere', async () => {
  await using plane = await openPlane();
  await plane.stop();
  const yesterday = path.join(freshFolder(), 'yesterday.db');
  copyFileSync(plane.database, yesterday);
  await plane.restart();
  await plane.write('today');
  expect((await plane.verify()).code).toBe(0);
  const { workspace, token } = plane;
  const { body } = await plane.api('GET', '/api/v1/audit/checkpoint', { workspace, token });
  const kept = path.join(freshFolder(), 'checkpoint.txt');
  writeFileSync(kept, body.note);
  await plane.stop();
  copyFileSync(yesterday, plane.database);
  removeHeads(plane.directory);
  await plane.restart();
  const told = await plane.verify();
  expect(told).toMatchObject({ code: 1, findings: [{ code: 'shortened' }] });
  expect(told.findings[0].message).toMatch(/an older database was restored/);
  const elsewhere = ['audit', 'verify', '--database', yesterday, '--workspace', workspace, '--checkpoint', kept];
  const { code, stdout } = await mesh(elsewhere, { home: freshFolder() });
  expect([code, stdout]).toEqual([1, expect.stringContaining(`Who kept ${kept} saw ${body.size} entries`)]);
});

test('a checkpoint of another log than the one that is read is held against nothing, and said to be', async () => {
  await using plane = await openPlane();
  const { workspace, token } = plane;
  const { body } = await plane.api('GET', '/api/v1/audit/checkpoint', { workspace, token });
  const other = path.join(freshFolder(), 'checkpoint.txt');
  writeFileSync(other, body.note.replaceAll(workspace, 'w_other'));
  const { code, stderr } = await mesh(['audit', 'verify', '--database', plane.database, '--checkpoint', other], {
    home: freshFolder(),
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('it was rewritten under another name')]);
});

test('a key that was rotated is told once, and trusted because the one before named it', async () => {
  await using plane = await openPlane();
  expect((await plane.verify()).code).toBe(0);
  const running = await mesh(['audit', 'rotate-key', '--config-dir', plane.directory], { home: plane.home });
  expect([running.code, running.stderr]).toEqual([2, expect.stringContaining('is in use by another meshd')]);
  await plane.stop();
  const rotated = await mesh(['audit', 'rotate-key', '--config-dir', plane.directory, '--json'], { home: plane.home });
  const { publicKey } = JSON.parse(rotated.stdout);
  await plane.restart();
  await plane.write('after');
  const told = await plane.verify();
  expect(told).toMatchObject({ code: 0, verified: true });
  expect(told.notes.join(' ')).toMatch(
    new RegExp(`Signed by ${RegExp.escape(publicKey)} \\(.*\\), which .* named as the next`),
  );
  const fingerprint = fingerprintOf(publicKey);
  for (const key of [publicKey, fingerprint]) {
    const held = await plane.verify('--key', key);
    expect(held).toMatchObject({ code: 0, verified: true });
    expect(held.notes.join(' ')).toContain(
      `Signed by ${publicKey} (fingerprint ${fingerprint}), the key given by --key.`,
    );
  }
  expect((await plane.verify()).notes.join(' ')).toMatch(
    new RegExp(`Signed by ${RegExp.escape(publicKey)} \\(fingerprint [0-9a-f]{64}\\), as the last time here`),
  );
  expect((await plane.verify('--key', Buffer.alloc(32).toString('base64'))).findings[0].code).toBe('signature');
});

test('keys that were put in the place of its own are told as another log, are signed with once that is accepted, and the log says so', async () => {
  await using plane = await openPlane();
  expect((await plane.verify()).code).toBe(0);
  await plane.stop();
  await using other = await openPlane();
  copyFileSync(path.join(other.directory, 'credentials.json'), path.join(plane.directory, 'credentials.json'));
  await expect(plane.restart()).rejects.toThrow(/log-heads\/w_\w+ is signed by no key that credentials\.json has/);
  removeHeads(plane.directory);
  await plane.restart();
  await plane.login();
  const refused = await plane.verify();
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringMatching(/credentials.json is another/)]);
  const accept = ['audit', 'accept', '--config-dir', plane.directory, '--reason', 'the disk of the keys was lost'];
  const running = await mesh(accept, { home: plane.home });
  expect([running.code, running.stderr]).toEqual([2, expect.stringContaining('is in use by another meshd')]);
  await plane.stop();
  const accepted = await mesh(accept, { home: plane.home });
  expect([accepted.code, accepted.stderr]).toEqual([0, '']);
  expect(accepted.stdout).toMatch(/says that this is given up:\n.*is signed by no key that this installation had then/);
  expect((await mesh(accept, { home: plane.home })).stdout).toContain('No log contradicts what was signed of it');
  await plane.restart();
  const told = await plane.verify();
  expect(told).toMatchObject({ code: 1, findings: [{ code: 'other_log' }, { code: 'key_changed' }] });
  expect(told.findings[0].message).toMatch(/where mesh\.internal\/log\/\w+\/w_\w+ was seen before/);
  const { workspace, token } = plane;
  const { body } = await plane.api('GET', '/api/v1/audit?type=event', { workspace, token });
  const entry = body.items.find((each: { event: string }) => each.event === 'audit.accepted');
  expect(entry.detail.reason).toBe('the disk of the keys was lost');
  expect((await mesh(['audit', 'verify', '--database', plane.database], { home: freshFolder() })).code).toBe(0);
});

test('a backup that was restored on purpose is signed once that is accepted, and whoever saw more still says so', async () => {
  await using plane = await openPlane();
  await plane.stop();
  const backup = path.join(freshFolder(), 'backup.db');
  copyFileSync(plane.database, backup);
  await plane.restart();
  await plane.write('today');
  expect((await plane.verify()).code).toBe(0);
  await plane.stop();
  copyFileSync(backup, plane.database);
  await expect(plane.restart()).rejects.toThrow(/entries are missing, those after .* up to /);
  const accept = ['audit', 'accept', '--config-dir', plane.directory, '--reason', 'restored from the backup'];
  expect((await mesh(accept, { home: plane.home })).stdout).toContain('its end is missing');
  await plane.restart();
  expect(await plane.verify()).toMatchObject({
    code: 1,
    findings: [{ code: expect.stringMatching(/shortened|forked/) }],
  });
});

test('the log of another installation is not taken for that of a file, which has the same name', async () => {
  await using one = await openPlane();
  expect((await one.verify('--installation')).code).toBe(0);
  await using other = await openPlane();
  await other.verify();
  await other.stop();
  const file = ['audit', 'verify', '--database', other.database];
  const foreign = await mesh(file, { home: one.home });
  expect([foreign.code, foreign.stdout.match(/NOT VERIFIED/)]).toEqual([0, null]);
});

test('who may not read entries verifies hashes, and is told so', async () => {
  await using plane = await openPlane();
  const { workspace, token } = plane;
  const body = { name: 'reader', scopes: ['network:read'] };
  const made = await plane.api('POST', '/api/v1/users/me/api-tokens', { token, workspace, body });
  expect(made.body).toHaveProperty('token');
  const told = await plane.verify('--token', made.body.token);
  expect(told).toMatchObject({ code: 0, verified: true, newest: null });
  expect(told.notes.join(' ')).toContain('Only hashes were read');
});

test.each([
  [['--key', 'short'], 'short is no key, and there is no such file: give a fingerprint'],
  [['--checkpoint', '/none'], 'Cannot read /none'],
  [['--database', '/none.db'], 'does not open for reading'],
])('mesh audit verify %j says what is wrong', async (args, message) => {
  const { code, stderr } = await mesh(['audit', 'verify', '--server', 'http://127.0.0.1:9', ...args], {
    home: freshFolder(),
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
