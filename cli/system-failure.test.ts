import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemFailure } from './system-failure.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-failure-'));

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

const refused = (fields: object) => Object.assign(new Error('refused'), fields);

test('of a file in a directory that is not there, the directory is named', () => {
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const gone = path.join(directory, 'none');
  const error = thrownBy(() => openSync(path.join(gone, 'below', 'x.db.new'), 'a'));
  expect(systemFailure(error)).toBe(`${gone} is not there: make it, or name another place.`);
});

test.each([
  [{ code: 'EROFS' }, 'its disk is read-only'],
  [{ code: 'ENOSPC' }, 'Make room there'],
  [{ code: 'EACCES' }, 'run as its owner'],
  [{ code: 'EMFILE' }, 'LimitNOFILE'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 14 }, 'see that its directory is there'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 8 | (4 << 8) }, 'its disk is read-only'],
])('%j of a file is a sentence with the file in it', (fields, said) => {
  expect(systemFailure(refused({ ...fields, path: '/data/meshd.pid' }))).toMatch(
    new RegExp(`/data/meshd\\.pid.*${said}`),
  );
});

test('what no system refused is left as it is', () => {
  for (const error of [new Error('a bug'), 'text', refused({ code: 'EROFS' }), refused({ code: 'EWHAT', path: '/x' })])
    expect(systemFailure(error)).toBeUndefined();
});
