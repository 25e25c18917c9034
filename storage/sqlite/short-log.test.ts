import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from './database.ts';

const MB = 1_048_576;

test('the log of a database takes no more than a share of what is kept free on its disk, however much is written', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-log-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'mesh.db');
  const database = openDatabase(file, MB);
  onTestFinished(() => database.close());
  database.exec('CREATE TABLE kept (text TEXT)');
  const log = () => statSync(`${file}-wal`).size;
  let most = 0;
  for (let count = 0; count < 500; count += 1) {
    database.transaction(() => database.statement('INSERT INTO kept VALUES (?)').run('x'.repeat(4_000)));
    most = Math.max(most, log());
  }
  expect(statSync(file).size).toBeGreaterThan(MB);
  expect(most).toBeLessThan(MB / 4);
  // One write that is larger than that leaves a long log, which is cut back.
  database.transaction(() => database.statement('INSERT INTO kept VALUES (?)').run('x'.repeat(4 * MB)));
  expect(log()).toBeGreaterThan(4 * MB);
  database.transaction(() => database.statement('INSERT INTO kept VALUES (?)').run('x'));
  expect(log()).toBeLessThan(MB);
});
