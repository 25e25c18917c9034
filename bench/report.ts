import { execFileSync } from 'node:child_process';
import { cpus, release } from 'node:os';

/** What a figure was measured on: it means nothing without. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores of ${cpu?.model}, Linux ${release()}, Node ${process.version}`;
}

/** Of the one that is first on PATH, as it calls itself: Debian's 0.0.20231211 says 0.0.20230223. */
export function wireguardGo(): string {
  const [line = ''] = execFileSync('wireguard-go', ['--version'], { encoding: 'utf8' }).split('\n');
  return line;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Median with the lowest and the highest. */
export function spread(values: readonly number[], digits = 2): string {
  const text = (value: number) => value.toFixed(digits);
  return `${text(median(values))} (${text(Math.min(...values))} to ${text(Math.max(...values))})`;
}

/** The mean of so many rounds, and its standard error. */
export function meanOf(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}
