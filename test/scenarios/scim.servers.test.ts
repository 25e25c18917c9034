import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FIRST_ADMIN, startHarness } from '../kits/http/harness.ts';
import { pythonWith } from '../kits/process/python-judges.ts';
import { run } from '../kits/process/run-command.ts';

const JUDGES = path.resolve('test/scim-judges');
const TOKEN = 'a-token-of-the-directory-32-characters';
const REMOVED_EXTENSION = "Failed to remove attribute 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'";
const python = pythonWith(path.join(JUDGES, 'requirements.txt'), 'scim-judges');

test.skipIf(!python)('scim2-tester finds no fault with the directory that an issuer keeps here', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-scim-'));
  try {
    const tokenFile = path.join(folder, 'token');
    writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
    const oidc = [
      { name: 'corp', issuer: 'https://id.example.com', clientId: 'mesh', admits: 'everyone', scim: { tokenFile } },
    ];
    await using harness = await startHarness({ config: { app: { initAdmins: [FIRST_ADMIN], oidc } } });
    const judged = await run(python ?? '', [path.join(JUDGES, 'tester.py'), `${harness.url}/scim/v2`, TOKEN], {
      timeoutMs: 300_000,
    });
    const results = judged.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const faults = results.filter(({ status }) => status === 'ERROR' || status === 'CRITICAL');
    // The library cannot take an extension away as a whole, which no issuer asks for.
    expect(faults.filter(({ reason }) => !reason.startsWith(REMOVED_EXTENSION))).toEqual([]);
    expect(results.filter(({ status }) => status === 'SUCCESS').length).toBeGreaterThan(100);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
