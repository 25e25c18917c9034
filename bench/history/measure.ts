import { performance } from 'node:perf_hooks';
import { median } from '../report.ts';

/** Milliseconds of the clock on the wall and of the processor; the second is what can be compared where others run too. */
export interface Took {
  readonly wall: number;
  readonly cpu: number;
}

/** The median of some rounds. What `prepare` answers with is measured in its place, if it is a function. */
export async function medianOf(rounds: number, prepare: () => Promise<unknown>): Promise<Took> {
  const took: Took[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const whole = stopwatch();
    const made = await prepare();
    if (typeof made !== 'function') took.push(whole());
    else {
      const inner = stopwatch();
      await made();
      took.push(inner());
    }
  }
  return { wall: median(took.map(({ wall }) => wall)), cpu: median(took.map(({ cpu }) => cpu)) };
}

function stopwatch(): () => Took {
  const [at, used] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(used);
    return { wall: performance.now() - at, cpu: (user + system) / 1_000 };
  };
}

export function print(what: string, { wall, cpu }: Took): void {
  console.log(`${what}, ms: ${wall.toFixed(1)} (processor ${cpu.toFixed(1)})`);
}

/** Of this process, since it began. */
export function printPeakMemory(what: string): void {
  console.log(`${what}, peak memory, MB: ${Math.round(process.resourceUsage().maxRSS / 1_024)}`);
}
