import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../rest/openapi.ts';
import { operations } from '../../tools/index.ts';
import { npmJudge } from '../kits/process/npm-judges.ts';

const REDOCLY = npmJudge('@redocly/cli/bin/cli.js');

/** The rule set `recommended`, its warnings counted as errors. */
const CONFIG = `extends: [recommended]
rules:
  # Every answer is listed with its status; an operation of the product always has one of 4xx.
  operation-4xx-response: error
  # The server is wherever the plane was started.
  no-server-example.com: off
`;

test('the OpenAPI document has no error and no warning under the recommended rules of Redocly', async ({ skip }) => {
  if (REDOCLY === undefined) return skip();
  const folder = await mkdtemp(join(tmpdir(), 'mesh-openapi-'));
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApiDocument(operations, '0.0.0')));
    await writeFile(join(folder, 'redocly.yaml'), CONFIG);
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: '1' };
    const lint = spawn(process.execPath, [REDOCLY, 'lint', '--format=json', 'openapi.json'], { cwd: folder, env });
    const [output, , [exit]] = await Promise.all([
      text(lint.stdout),
      text(lint.stderr),
      once(lint, 'exit') as Promise<[number | null]>,
    ]);
    const { totals, problems } = JSON.parse(output) as {
      totals: { errors: number; warnings: number };
      problems: { ruleId: string; message: string; location: { pointer?: string }[] }[];
    };
    const shown = problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
    expect({ shown, exit, errors: totals.errors, warnings: totals.warnings }).toEqual({
      shown: [],
      exit: 0,
      errors: 0,
      warnings: 0,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
