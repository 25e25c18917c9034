import { cpus, release } from 'node:os';

/** What a figure was measured on: it means nothing without. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores of ${cpu?.model}, Linux ${release()}, Node ${process.version}`;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Median with the lowest and the highest. */
export function spread(values: readonly number[], digits = 2): string {
  const text = (value: number) => value.toFixed(digits);
  return `${text(median(values))} (${text(Math.min(...values))} to ${text(Math.max(...values))})`;
}
