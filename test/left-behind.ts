import { afterAll, expect, vi } from 'vitest';

const before = { ...process.env };
const directory = process.cwd();

/** Files run one after another in the same process: what one of them left would decide about the next. */
afterAll(() => {
  const names = Object.keys({ ...before, ...process.env });
  expect({
    variables: names.filter((name) => before[name] !== process.env[name]),
    directory: process.cwd(),
    hasFakeTimers: vi.isFakeTimers(),
  }).toEqual({ variables: [], directory, hasFakeTimers: false });
});
