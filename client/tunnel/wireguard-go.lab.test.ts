import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { freshInterface } from '../../test/kits/lab/natlab.ts';
import { describePrivileged } from '../../test/kits/lab/privileged.ts';
import { linuxProcesses } from './process-table.ts';
import { startWireGuardGo } from './wireguard-go.ts';
import { outputFile } from './wireguard-go-record.ts';

const TIMES = 5;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync('/tmp/wireguard-go-');
  vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

function install(script: string): void {
  const file = path.join(directory, 'wireguard-go');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** The error of a start, and whether its note is there. */
async function failure(ending?: AbortSignal) {
  const interfaceName = freshInterface();
  const error = await startWireGuardGo(interfaceName, linuxProcesses, ending).catch((thrown: Error) => thrown);
  return [(error as Error).message, existsSync(outputFile(interfaceName))];
}

describePrivileged('a wireguard-go that fails', () => {
  it.each([
    ['echo broken >&2; exit 1', 'wireguard-go ended with 1. broken'],
    ['exit 0', 'wireguard-go ended with 0.'],
  ])('at once by "%s" is told of each time', async (script, text) => {
    install(script);
    for (let time = 0; time < TIMES; time += 1) expect(await failure()).toEqual([text, false]);
  });

  it('by never answering is given up and ended, sooner where nobody waits any more', async () => {
    install('exec sleep 1000');
    const starts = Array.from({ length: TIMES }, () => failure());
    expect(await Promise.all(starts)).toEqual(starts.map(() => ['wireguard-go does not answer.', false]));
    const ended = await Promise.all(starts.map(() => failure(AbortSignal.abort())));
    expect(ended).toEqual(starts.map(() => ['wireguard-go was stopped before it answered.', false]));
  });
});
