import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, register } from '../kits/http/joining.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { mesh, run } from '../kits/process/run-command.ts';

const harness = await startHarness();
const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
beforeAll(async () => {
  const place = await harness.workspace('shells');
  for (const name of ['web-1', 'web-2', 'db-1']) await register(harness, await joinTokenFor(harness, place), name);
  await mesh(['login', '--server', harness.url], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** How each shell is asked what it would offer after a line. */
const SHELLS = {
  bash: {
    ask: (script: string, words: readonly string[]) =>
      `source ${script}; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _mesh; printf '%s\\n' "\${COMPREPLY[@]}"`,
    options: ['--norc', '-c'],
  },
  zsh: {
    ask: (script: string, words: readonly string[]) =>
      `compdef() {}; compadd() { shift; print -l -- "$@" }; source ${script}; words=(${quoted(words)}); CURRENT=${words.length}; _mesh`,
    options: ['-f', '-c'],
  },
  fish: {
    ask: (script: string, words: readonly string[]) =>
      `source ${script}; complete --do-complete '${words.join(' ')}' | string split -f1 \\t`,
    options: ['--no-config', '-c'],
  },
} as const;

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');

describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])('the completion of %s', (shell) => {
  const { ask, options } = SHELLS[shell];
  const offered = async (...words: string[]) => {
    const script = path.join(home, `mesh.${shell}`);
    const { stdout } = await mesh(['completion', shell], { home });
    writeFileSync(script, stdout);
    const env = { HOME: home, MESH_CONFIG_DIR: home };
    const answer = await run(shell, [...options, ask(script, ['mesh', ...words])], { env });
    return answer.stdout.split('\n').filter((line) => line !== '');
  };

  test.skipIf(!isInstalled(shell))('offers commands, options, choices and what the server knows', async () => {
    expect(await offered('pe')).toEqual(['peers']);
    expect(await offered('mcp', 'con')).toEqual(['config']);
    expect(await offered('peers', 'web')).toEqual(['web-1', 'web-2']);
    expect(await offered('why', 'web-1', 'd')).toEqual(['db-1']);
    expect(await offered('peers', '--workspace', '')).toEqual(['shells']);
    expect(await offered('peers', '-o', 'j')).toEqual(['json']);
    expect(await offered('admin', 'get-peer', 'db')).toEqual(['db-1']);
    expect(await offered('peers', '--ph')).toEqual(['--phase']);
  });
});

test.skipIf(!isInstalled('bash'))(
  'bash takes what is offered as it stands, not as a pattern of file names',
  async () => {
    const { stdout } = await mesh(['completion', 'bash'], { home });
    const ask = `cd /; offer() { echo '*'; }; ${stdout}\nCOMP_WORDS=(offer ''); COMP_CWORD=1; _mesh; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect((await run('bash', ['--norc', '-c', ask])).stdout).toBe('*\n');
  },
);
