import { startWatchdog } from '../../../bin/compose/watchdog/watchdog.ts';

/** A process under a watchdog that looks often, whose thread stands still for good, or for a number of milliseconds. */
const [phase, supervised, stallMs = 'Infinity'] = process.argv.slice(2);
const TICK_MS = 50;

const log = { warn: (fields: unknown, message: string) => console.error(message, fields) };
const watched = startWatchdog(log, { isSupervised: supervised === 'supervised', tickMs: TICK_MS });
process.once('SIGTERM', () => {
  console.log(`heard SIGTERM after ${watched.stalls()} stalls`);
  process.exit(0);
});
watched.serving();
if (phase === 'stopping') watched.stopping();
setTimeout(standStillInHere, 4 * TICK_MS);
setInterval(() => undefined, 1_000);

function standStillInHere(): void {
  const until = performance.now() + Number(stallMs);
  while (performance.now() < until);
  // Later than the turn by which the watchdog sees it.
  setTimeout(() => console.log('turns again'), 2 * TICK_MS);
}
