import { existsSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** Brought by test/newer-wireguard-go.sh. */
const NEWER_WIREGUARD_GO = path.resolve('node_modules/.cache/newer-wireguard-go');
/** Real interfaces and packets: one file at a time, apart from the others, so that time limits measure Mesh. */
const privileged = {
  setupFiles: ['test/seed.ts'],
  testTimeout: 120_000,
  hookTimeout: 60_000,
  maxWorkers: 1,
  // Time limits of real traffic on a machine that others use too: what fails twice is wrong.
  retry: 1,
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles: ['test/seed.ts'],
          include: ['**/*.test.ts'],
          exclude: ['node_modules/**', 'test/scenarios/**', 'test/natlab/**', 'examples/**', '**/*.privileged.test.ts'],
        },
      },
      {
        test: {
          name: 'scenario',
          setupFiles: ['test/seed.ts'],
          include: ['test/scenarios/**/*.test.ts', 'examples/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...privileged,
          name: 'privileged',
          include: ['test/natlab/**/*.test.ts', '**/*.privileged.test.ts'],
          exclude: ['node_modules/**', '**/*.newer.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...privileged,
          name: 'newer-wireguard-go',
          include: existsSync(NEWER_WIREGUARD_GO)
            ? ['**/*.newer.test.ts', ...['grid', 'paths', 'switch'].map((name) => `test/natlab/${name}.test.ts`)]
            : [],
          exclude: ['node_modules/**'],
          env: { PATH: `${NEWER_WIREGUARD_GO}:${process.env['PATH']}` },
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
