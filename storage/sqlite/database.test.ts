import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openForReading } from './database.ts';

/** A file that is not in WAL mode yet, whose writer was killed after a part of what it wrote reached the file. */
const KILLED = `
  const { DatabaseSync } = require('node:sqlite');
  new DatabaseSync(process.argv[1]).exec(\`
    PRAGMA journal_mode = DELETE; PRAGMA cache_size = 10; CREATE TABLE kept (a); INSERT INTO kept VALUES (1);
    BEGIN; CREATE TABLE half (b);
    WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 20000) INSERT INTO half SELECT randomblob(100) FROM n\`);
  process.kill(process.pid, 'SIGKILL');`;

test('what a process that was killed left half done is undone before a file is read', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-database-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'mesh.db');
  spawnSync(process.execPath, ['--eval', KILLED, file]);
  expect(existsSync(`${file}-journal`)).toBe(true);
  const database = openForReading(file);
  expect(database.statement('SELECT name FROM sqlite_schema').all()).toMatchObject([{ name: 'kept' }]);
  database.close();
});
