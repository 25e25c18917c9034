import { defineConfig } from 'vitest/config';

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
          // Real interfaces and packets: one file at a time, after the others, so that time limits measure Mesh.
          name: 'privileged',
          setupFiles: ['test/seed.ts'],
          include: ['test/natlab/**/*.test.ts', '**/*.privileged.test.ts'],
          exclude: ['node_modules/**'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          // Time limits of real traffic on a machine that others use too: what fails twice is wrong.
          retry: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
