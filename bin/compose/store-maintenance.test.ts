import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { openStore } from '../../storage/open.ts';
import { buildStoreMaintenance, type StoreMaintenanceOptions } from './store-maintenance.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const KEEP = 2;

async function careOf(backups: StoreMaintenanceOptions['backups'] = { every: DAY_MS, keep: KEEP }) {
  const configDir = mkdtempSync(path.join(tmpdir(), 'mesh-care-'));
  onTestFinished(() => rmSync(configDir, { recursive: true, force: true }));
  const clock = { time: Date.UTC(2026, 0, 1), now: () => clock.time };
  const store = await openStore(path.join(configDir, 'mesh.db'), { clock, log: silentLog });
  onTestFinished(() => store.close());
  await store.record('w_a', [{ type: 'login', actor: 'user:ada', result: 'ok' }]);
  const build = () =>
    buildStoreMaintenance({
      configDir,
      upkeep: store.upkeep,
      heads: headsIn(configDir),
      installation: 'mesh.internal/log/0/',
      backups,
      clock,
      log: silentLog,
    });
  return {
    configDir,
    clock,
    care: build(),
    build,
    backups: () => readdirSync(path.join(configDir, 'backups')).sort(),
  };
}

const jobOf = ({ jobs }: ReturnType<typeof buildStoreMaintenance>, name: string) =>
  jobs().find((job) => job.name === name);
const BACK_UP = 'back up the database';

test('the database is backed up a minute after the first start, then daily, and the newest are kept', async () => {
  const { clock, care, backups, configDir } = await careOf();
  const job = jobOf(care, BACK_UP);
  expect(care.state()).toMatchObject({ writable: true, backup: undefined, problems: [] });
  expect(await job?.run()).toBe(clock.time + MINUTE_MS);
  clock.time += MINUTE_MS;
  expect(await job?.run()).toBe(clock.time + DAY_MS);
  writeFileSync(path.join(configDir, 'backups', 'mesh-20260101T000000Z.db.new'), 'left half written');
  writeFileSync(path.join(configDir, 'backups', 'notes.new'), 'of somebody else');
  for (let day = 0; day < KEEP; day += 1) {
    clock.time += DAY_MS;
    await job?.run();
  }
  expect(backups()).toEqual(['mesh-20260102T000100Z.db', 'mesh-20260103T000100Z.db', 'notes.new']);
  clock.time += MINUTE_MS;
  expect(care.state().backup).toMatchObject({ at: Date.UTC(2026, 0, 3, 0, 1), ageMs: MINUTE_MS });
});

test('after a restart the next backup is due a day after the last one', async () => {
  const { clock, care, build } = await careOf();
  clock.time += MINUTE_MS;
  const first = jobOf(care, BACK_UP);
  clock.time += MINUTE_MS;
  await first?.run();
  const at = clock.time;
  clock.time += DAY_MS / 2;
  expect(await jobOf(build(), BACK_UP)?.run()).toBe(at + DAY_MS);
});

test('a backup that is two days late and one that failed are told, and none is made where they are off', async () => {
  const { clock, care, configDir } = await careOf();
  const job = jobOf(care, BACK_UP);
  clock.time += MINUTE_MS;
  await job?.run();
  clock.time += 2 * DAY_MS + MINUTE_MS;
  expect(care.state().problems).toEqual(['The newest backup of the database is older than it should be.']);
  rmSync(path.join(configDir, 'backups'), { recursive: true });
  writeFileSync(path.join(configDir, 'backups'), 'no directory');
  await expect(job?.run()).rejects.toThrow(/EEXIST|ENOTDIR/);
  rmSync(path.join(configDir, 'backups'));
  expect(care.state().problems).toEqual(['The last backup of the database failed: see the log.']);
  await job?.run();
  expect(care.state().problems).toEqual([]);
  expect(jobOf((await careOf('off')).care, BACK_UP)).toBeUndefined();
});

test('a database that is damaged while the control plane runs is told by the check', async () => {
  const { clock, care, configDir } = await careOf();
  const check = jobOf(care, 'check the database');
  clock.time += MINUTE_MS;
  await check?.run();
  expect(care.state().problems).toEqual([]);
  for (const name of ['mesh.db', 'mesh.db-wal', 'mesh.db-shm']) rmSync(path.join(configDir, name));
  writeFileSync(path.join(configDir, 'mesh.db'), 'no database any more'.repeat(1_000));
  clock.time += DAY_MS;
  await check?.run();
  expect(care.state()).toMatchObject({
    writable: false,
    problems: [
      'The database file was removed, replaced or cut short.',
      'The database is damaged: restore it from a backup.',
    ],
  });
});
