import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePipe } from '../../if-readable.testkit.ts';
import { type Opened, openedRecord } from './opened.ts';

const OPENED: Opened = { interfaceName: 'mesh0', tool: 'nft', changes: ['inet filter input'] };
const OWNER = process.geteuid?.() ?? 0;
let place: string;
beforeEach(() => {
  place = mkdtempSync(path.join(tmpdir(), 'mesh-opened-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));
const record = (boot = 'one', owner = OWNER) => openedRecord('/home/ada/.mesh', { place, owner, boot });
/** Path of the record. */
const file = () => path.join(place, readdirSync(place)[0] ?? 'none');

test('what was opened is kept for the node of a directory, and nothing lies in that', () => {
  record().write(OPENED);
  expect([record().read(), openedRecord('/other', { place, owner: OWNER }).read()]).toEqual([
    { ...OPENED, boot: 'one' },
    undefined,
  ]);
  record().forget();
  expect([record().read(), readdirSync(place)]).toEqual([undefined, []]);
});

test.each([
  { changes: ['inet filter input; include "/etc/shadow"'] },
  { changes: ['inet filter'] },
  { changes: ['rule'] },
  { tool: 'firewalld', changes: ['always'] },
  { interfaceName: 'eth0; x' },
])('what is no word or name of a change is no record: %j', (other) => {
  record().write(OPENED);
  writeFileSync(file(), JSON.stringify({ ...OPENED, ...other }));
  expect(record().read()).toBeUndefined();
});

test('a record that others could write, of another user, a link, a pipe or what is too large is none', () => {
  record().write(OPENED);
  expect(record('one', OWNER + 1).read()).toBeUndefined();
  chmodSync(file(), 0o620);
  expect(record().read()).toBeUndefined();
  chmodSync(file(), 0o600);
  const [name, aside] = [file(), path.join(place, '..', `${path.basename(place)}.json`)];
  renameSync(name, aside);
  symlinkSync(aside, name);
  expect(record().read()).toBeUndefined();
  rmSync(name);
  makePipe(name);
  expect(record().read()).toBeUndefined();
  rmSync(name);
  writeFileSync(name, `${JSON.stringify(OPENED)}${' '.repeat(100_000)}`, { mode: 0o600 });
  expect(record().read()).toBeUndefined();
  rmSync(aside);
});

test('after a restart of the host firewalld holds nothing that it was given for now alone', () => {
  const opened = (changes: readonly string[]): Opened => ({ interfaceName: 'mesh0', tool: 'firewalld', changes });
  record().write(opened(['now']));
  expect([record().read()?.changes, record('two').read()?.changes]).toEqual([['now'], []]);
  record().write(opened(['now', 'permanent']));
  expect(record('two').read()?.changes).toEqual(['now', 'permanent']);
});
