import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { StateFile } from './state-file.ts';

function expectsToKeep(file: StateFile): void {
  expect(() => file.read()).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  file.replace('one');
  file.replace('two');
  expect(file.read()).toBe('two');
}

it('keeps its text in memory where it has no directory, and in a file of its owner where it has', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-state-'));
  try {
    const [inMemory, onDisk] = [new StateFile(undefined, 'graph.json'), new StateFile(directory, 'graph.json')];
    expectsToKeep(inMemory);
    expect(readdirSync('.')).not.toContain('graph.json');
    expectsToKeep(onDisk);
    expect(statSync(onDisk.name).mode & 0o777).toBe(0o600);
    for (const file of [inMemory, onDisk]) {
      file.remove();
      expect(() => file.read()).toThrow();
    }
    expect(readdirSync(directory)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
