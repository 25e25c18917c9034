import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles: ['test/seed.ts'],
          include: ['**/*.test.ts'],
          exclude: ['node_modules/**', 'test/scenarios/**', 'examples/**', '**/*.privileged.test.ts'],
        },
      },
      {
        test: {
          name: 'scenario',
          setupFiles: ['test/seed.ts'],
          include: ['test/scenarios/**/*.test.ts', 'examples/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
