import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import LongFilesFirst from './test/long-files-first.ts';

/** Brought by test/newer-wireguard-go.sh. */
const NEWER_WIREGUARD_GO = path.resolve('node_modules/.cache/newer-wireguard-go');
/** Of commands, planes and threads that tests start, and of Node's own part of the tests: each is compiled once. */
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/compiled');
/** Generous, for machines with other work: what hangs still ends, and what comes late is no failure. */
const PATIENCE_MS = 120_000;
const everywhere = {
  setupFiles: ['test/seed.ts', 'test/left-behind.ts'],
  // Files share a process, and leave nothing behind there: to read the product anew for each took longer than most of them.
  isolate: false,
  testTimeout: PATIENCE_MS,
  hookTimeout: PATIENCE_MS,
  expect: { poll: { timeout: 10_000 } },
};
const OUTSIDE = '**/node_modules/**';
const isLong = process.env['MESH_LONG'] === '1';
/** Files that `npm run test:long` alone runs: they cost most and fail least. */
const LONG_ALONE = isLong
  ? []
  : [
      'deploy-page',
      'first-tasks-on-planes',
      'histories',
      'partition',
      'sign-in-keycloak',
      'step-downs',
      'versions-of-planes',
    ].map((name) => `test/scenarios/${name}.servers.test.ts`);
/** A file whose name ends so needs more than Node: superuser rights, a browser, or other people's programs. */
const TIERS = '**/*.{lab,web,servers}.test.ts';
const SCENARIOS = ['test/{scenarios,faults}/**/*.test.ts', 'examples/**/*.test.ts'];
/** Many files wait for much of their time: for processes, timers, elections, frames. With one more at work no core is idle. */
const WORKERS = availableParallelism() + 1;
/** One file at a time in the long run, which measures. */
const measured = { ...everywhere, maxWorkers: isLong ? 1 : WORKERS };
const browsing = { ...measured, setupFiles: [...measured.setupFiles, 'test/kits/web/tell-what-was-shown.ts'] };
const hasNewer = existsSync(NEWER_WIREGUARD_GO);
/** Real interfaces and packets, apart from the other tiers, so that time limits measure Mesh. */
const labNewer = { ...measured, env: { PATH: `${NEWER_WIREGUARD_GO}:${process.env['PATH']}` } };
const NEWER = '**/*.newer.lab.test.ts';

/** What each tier is and when it runs stands in CONTRIBUTING.md. */
export default defineConfig({
  test: {
    reporters: ['default', './test/tier-reporter.ts'],
    maxWorkers: WORKERS,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      { test: { ...everywhere, name: 'unit', include: ['**/*.test.ts'], exclude: [OUTSIDE, TIERS, ...SCENARIOS] } },
      {
        test: {
          ...everywhere,
          name: 'scenario',
          include: SCENARIOS,
          exclude: [OUTSIDE, TIERS],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...browsing,
          name: 'web',
          include: ['**/*.web.test.ts'],
          exclude: [OUTSIDE],
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...browsing,
          name: 'servers',
          include: ['**/*.servers.test.ts'],
          exclude: [OUTSIDE, ...LONG_ALONE],
          globalSetup: 'test/kits/servers/replica-set-of-run.ts',
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...measured,
          name: 'lab',
          include: ['**/*.lab.test.ts'],
          exclude: [OUTSIDE, NEWER],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...labNewer,
          name: 'lab-newer',
          include: hasNewer ? ['grid', 'paths', 'switch'].map((name) => `test/natlab/${name}.lab.test.ts`) : [],
          exclude: [OUTSIDE],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...labNewer,
          name: 'lab-full-tunnel',
          // They fill the tunnel as fast as the machine can.
          maxWorkers: 1,
          include: hasNewer ? [NEWER] : [],
          exclude: [OUTSIDE],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
