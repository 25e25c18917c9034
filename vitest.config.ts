import { existsSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** Brought by test/newer-wireguard-go.sh. */
const NEWER_WIREGUARD_GO = path.resolve('node_modules/.cache/newer-wireguard-go');
const everywhere = { setupFiles: ['test/seed.ts'] };
const OUTSIDE = 'node_modules/**';
/** A file whose name ends so needs more than Node: superuser rights, a browser, or other people's programs. */
const TIERS = '**/*.{lab,web,servers}.test.ts';
const SCENARIOS = ['test/scenarios/**/*.test.ts', 'examples/**/*.test.ts'];
/** Whole programs that start, talk and stop. */
const scenario = { ...everywhere, testTimeout: 60_000, hookTimeout: 60_000 };
/** Real interfaces and packets: one file at a time, apart from the others, so that time limits measure Mesh. */
const lab = { ...everywhere, testTimeout: 120_000, hookTimeout: 60_000, maxWorkers: 1 };

/** What each tier is and when it runs stands in CONTRIBUTING.md. */
export default defineConfig({
  test: {
    reporters: ['default', './test/tier-reporter.ts'],
    projects: [
      { test: { ...everywhere, name: 'unit', include: ['**/*.test.ts'], exclude: [OUTSIDE, TIERS, ...SCENARIOS] } },
      {
        test: {
          ...scenario,
          name: 'scenario',
          include: SCENARIOS,
          exclude: [OUTSIDE, TIERS],
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...scenario, name: 'web', include: ['**/*.web.test.ts'], exclude: [OUTSIDE] } },
      { test: { ...scenario, name: 'servers', include: ['**/*.servers.test.ts'], exclude: [OUTSIDE] } },
      {
        test: {
          ...lab,
          name: 'lab',
          include: ['**/*.lab.test.ts'],
          exclude: [OUTSIDE, '**/*.newer.lab.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...lab,
          name: 'lab-newer',
          include: existsSync(NEWER_WIREGUARD_GO)
            ? [
                '**/*.newer.lab.test.ts',
                ...['grid', 'paths', 'switch'].map((name) => `test/natlab/${name}.lab.test.ts`),
              ]
            : [],
          exclude: [OUTSIDE],
          env: { PATH: `${NEWER_WIREGUARD_GO}:${process.env['PATH']}` },
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
