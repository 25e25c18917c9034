import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Where a script may be asked for: by what says so when it does not come. */
const READ = /(?:readScript\(|readLater\(|load:)[^;{}]*?import\(/g;

it('reads no script of the dashboard in a way that could fail unseen', () => {
  const unread = globSync('web/src/**/*.{ts,tsx}').filter((file) => {
    const text = readFileSync(file, 'utf8');
    return (text.match(/\bimport\(/g)?.length ?? 0) > (text.match(READ)?.length ?? 0);
  });
  expect(unread).toEqual([]);
});
