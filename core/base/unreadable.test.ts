import { expect, test } from 'vitest';
import { unreadable } from './unreadable.ts';

const failed = (code: string) => Object.assign(new Error(`${code}: said by the system, open '/srv/x'`), { code });

test.each(['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ELOOP'])(
  'a file that fails with %s is named with what to do',
  (code) => {
    const text = unreadable('/srv/config.yaml', failed(code));
    expect(text).toMatch(/^\/srv\/config\.yaml .*[a-z]{3}.*\.$/);
    expect(text).not.toMatch(/E[A-Z]{4}|said by/);
  },
);

test('another failure keeps its code', () => {
  expect(unreadable('/srv/x', failed('EIO'))).toBe('/srv/x cannot be read (EIO): look at its disk.');
});
