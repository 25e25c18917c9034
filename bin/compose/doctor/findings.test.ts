import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testCertificate } from '../../../net/nats/test-certificate.ts';
import { backupAt } from '../../../storage/backup-files.ts';
import { databaseAt } from '../../../storage/open.ts';
import { loadConfig } from '../config.ts';
import { checkBackup } from './backup.ts';
import { checkCertificates } from './certificates.ts';
import type { Subject } from './check.ts';
import { checkFiles } from './files.ts';
import { checkPorts } from './ports.ts';
import { checkConfiguration } from './settings.ts';
import { checkSpace } from './space.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 0, 15, 12);
const MB = 1_048_576;

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function subjectWith(env: Readonly<Record<string, string>> = {}, settings: object = {}): Subject {
  const configDir = freshFolder();
  writeFileSync(path.join(configDir, 'config.yaml'), JSON.stringify(settings));
  const config = loadConfig(env, configDir);
  return { config, file: databaseAt(path.join(configDir, 'mesh.db')), isRunning: false, now: NOW };
}

test('a certificate fails before it is valid and once it has expired, and is warned of in its last two weeks', async () => {
  const folder = freshFolder();
  const files = { MESH_TLS_CERT: path.join(folder, 'cert.pem'), MESH_TLS_KEY: path.join(folder, 'key.pem') };
  writeFileSync(files.MESH_TLS_CERT, testCertificate.cert);
  writeFileSync(files.MESH_TLS_KEY, testCertificate.key);
  const { validFromDate, validToDate } = new X509Certificate(testCertificate.cert);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  const subject = subjectWith(files);
  const instants = [from - 1, from, to - 14 * DAY_MS, to - 14 * DAY_MS + 1, to - 1, to];
  const found = await Promise.all(instants.map((now) => checkCertificates({ ...subject, now })));
  expect(found.flat()).toMatchObject([
    { state: 'failed', detail: expect.stringContaining('is valid from') },
    { state: 'ok' },
    { state: 'ok' },
    { state: 'warning', detail: expect.stringContaining('13 more days') },
    { state: 'warning', detail: expect.stringContaining('0 more days') },
    { state: 'failed', detail: expect.stringContaining('expired on') },
  ]);
});

test('a backup is missed where there is none, and late at more than twice the time between two', () => {
  const subject = subjectWith();
  const before = checkBackup(subject);
  backUp(subject);
  const late = checkBackup({ ...subject, now: NOW + 2 * DAY_MS + 1 });
  expect([before, checkBackup(subject), late]).toMatchObject([
    [{ state: 'warning', detail: expect.stringContaining('no automatic backup yet') }],
    [{ state: 'ok' }],
    [{ state: 'warning', detail: expect.stringContaining('48 h ago') }],
  ]);
  const off = subjectWith({}, { app: { backups: 'off' } });
  backUp(off);
  expect(checkBackup(off)).toMatchObject([{ state: 'warning', detail: expect.stringContaining('are off') }]);
});

test('what a killed process left half written is removed, and not beside a control plane that may be writing it', () => {
  const subject = subjectWith();
  const folder = path.join(subject.config.configDir, 'backups');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'mesh-20260115T000000Z.db'), 'whole');
  writeFileSync(path.join(folder, 'mesh-20260115T030000Z.db.new'), 'half');
  writeFileSync(path.join(folder, 'mesh-20260115T030000Z.db.new-journal'), 'half');
  writeFileSync(path.join(folder, 'notes.new'), 'of somebody else');
  expect(checkFiles({ ...subject, isRunning: true })).not.toMatchObject([{ repaired: true }]);
  expect(readdirSync(folder)).toHaveLength(4);
  const removed = { state: 'ok', repaired: true, detail: expect.stringContaining('only half written') };
  expect(checkFiles(subject)).toMatchObject([removed, removed]);
  expect(readdirSync(folder)).toEqual(['mesh-20260115T000000Z.db', 'notes.new']);
});

test('too little space fails below the reserve, and is warned of where it is not enough for a backup beside it', () => {
  const plenty = subjectWith({ MESH_STORE_RESERVE: '1' });
  const { bavail, bsize } = statfsSync(plenty.config.configDir);
  const free = bavail * bsize;
  const { config } = plenty;
  const none = { ...plenty, config: { ...config, env: { ...config.env, MESH_STORE_RESERVE: (2 * free) / MB } } };
  const large = subjectWith({ MESH_STORE_RESERVE: '1' });
  // With a hole, so that it takes no space.
  writeFileSync(large.file?.path ?? '', '');
  truncateSync(large.file?.path ?? '', free);
  expect([checkSpace(plenty), checkSpace(none), checkSpace(large)]).toMatchObject([
    [{ state: 'ok' }],
    [{ state: 'failed', detail: expect.stringContaining('new records are refused') }],
    [{ state: 'warning', detail: expect.stringContaining('backups and upgrades need') }],
  ]);
});

test('an API in clear beyond this machine is warned of, and one of this machine alone is not', async () => {
  const quiet = { MESH_BUS_LISTEN: 'off', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };
  const [open, local] = ['0.0.0.0:0', '127.0.0.1:0'].map((place) => subjectWith({ ...quiet, MESH_LISTEN: place }));
  expect(await Promise.all([open, local].map((subject) => subject && checkPorts(subject)))).toEqual([
    [{ state: 'warning', detail: expect.stringContaining('is not encrypted (http)') }],
    [],
  ]);
});

test('a misspelt variable and a short relay token are warned of', async () => {
  expect(await checkConfiguration(subjectWith({ MESH_LISTN: 'x', MESH_LRP_AUTH_TOKEN: 'short' }))).toEqual([
    { state: 'warning', detail: expect.stringContaining('did you mean MESH_LISTEN?') },
    { state: 'warning', detail: expect.stringContaining('fewer than 16 characters') },
  ]);
});

function backUp({ config: { configDir }, now }: Subject): void {
  writeFileSync(backupAt(configDir, now), 'a backup');
}
