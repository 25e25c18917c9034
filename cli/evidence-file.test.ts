import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { storedZip } from '../test/kits/records/stored-zip.ts';
import { openEvidence } from './evidence-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mesh-zip-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, 'evidence.zip');

async function isOpened(bytes: Buffer): Promise<boolean> {
  writeFileSync(file, bytes);
  return openEvidence(file).then(
    (archive) => {
      archive.close();
      return true;
    },
    () => false,
  );
}

const ENTRIES = ['a.md', 'controls/b.md'].map((name) => ({ name, bytes: Buffer.from(`of ${name}`) }));

test('an archive does not open with any other byte than those of its compressed data changed, left out or added', async () => {
  const zip = storedZip(ENTRIES);
  expect(await isOpened(zip)).toBe(true);
  const data = new Set<number>();
  let end = 0;
  for (const { name } of ENTRIES) {
    const begin = end + 30 + name.length;
    end = zip.indexOf('PK\x07\x08', begin);
    for (let at = begin; at < end; at += 1) data.add(at);
    end += 16;
  }
  for (let at = 0; at < zip.length; at += 1) {
    if (data.has(at)) continue;
    const changed = Buffer.from(zip);
    changed[at] = (zip[at] ?? 0) ^ 1;
    const [before, after] = [zip.subarray(0, at), zip.subarray(at)];
    for (const bytes of [
      changed,
      Buffer.concat([before, after.subarray(1)]),
      Buffer.concat([before, Buffer.of(0), after]),
    ])
      expect(await isOpened(bytes), `byte ${at}`).toBe(false);
  }
});
